/* See nvml_faults.h. */
#include "nvml_faults.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "book.h"

int has_fault(const char *word) {
  size_t length = strlen(word);
  const char *next = getenv("HOSTGPU_NVML_FAULTS");
  while (next && *next) {
    size_t size = strcspn(next, ",");
    if (size == length && strncmp(next, word, length) == 0) return 1;
    next += size + (next[size] == ',');
  }
  return 0;
}

/* One byte for each answer: whoever reads the size knows how often the driver was asked. */
static void count_answer(void) {
  const char *path = getenv("HOSTGPU_NVML_COUNT");
  int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  if (write(file, ".", 1) != 1) abort();
  close(file);
}

static int has_sign(const char *name) {
  const char *path = getenv(name);
  return path && access(path, F_OK) == 0;
}

void wait_while_stuck(void) {
  enum { PAUSE_US = 20000 };
  while (has_sign("HOSTGPU_NVML_STUCK_IF")) usleep(PAUSE_US);
}

int is_lost(void) {
  static int64_t answers;
  wait_while_stuck();
  count_answer();
  int64_t number = __atomic_add_fetch(&answers, 1, __ATOMIC_RELAXED);
  return number > number_from_environment("HOSTGPU_NVML_LOST_AFTER", INT64_MAX) ||
         has_sign("HOSTGPU_NVML_LOST_IF");
}
