/* See nvml_faults.h. */
#include "nvml_faults.h"

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

int is_lost(void) {
  static int64_t answers;
  const char *sign = getenv("HOSTGPU_NVML_LOST_IF");
  int64_t number = __atomic_add_fetch(&answers, 1, __ATOMIC_RELAXED);
  return number > number_from_environment("HOSTGPU_NVML_LOST_AFTER", INT64_MAX) ||
         (sign && access(sign, F_OK) == 0);
}
