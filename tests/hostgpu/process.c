/* See process.h. */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ssize_t read_about(int pid, const char *what, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t length = read(file, text, size - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  return length;
}

uint64_t process_start_time(int pid) {
  enum { FIELDS_FROM_STATE_TO_START = 19 };
  char text[1024];
  if (read_about(pid, "stat", text, sizeof(text)) <= 0) return 0;
  /* The name comes before, in brackets, and may contain anything. */
  char *field = strrchr(text, ')');
  if (!field || strchr("ZX", field[2])) return 0;
  field += 2;
  for (int i = 0; field && i < FIELDS_FROM_STATE_TO_START; i++)
    if ((field = strchr(field, ' '))) field++;
  return field ? strtoull(field, NULL, 10) : 0;
}

int process_name(int pid, char *name, size_t size) {
  return read_about(pid, "cmdline", name, size) > 0;
}
