/* The memory of a device: taken from the host, booked, and failing on demand. */
#include "book.h"
#include "plugin.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Mapped, and shared: memory of a real device is neither in malloc's books nor in the anonymous
   memory of the process. */
static void *device_memory(uint64_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void *host_memory(uint64_t size) { return aligned_alloc(64, (size + 63) / 64 * 64); }

/* HOSTGPU_FAIL_AT: one request; HOSTGPU_FAIL_FROM: that one and all later ones, because
   TensorFlow's pool asks again for less; HOSTGPU_FAIL_ABOVE: every request of more bytes. */
static int shall_fail(int64_t bytes) {
  static int64_t requests;
  int64_t number = __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
  return number == number_from_environment("HOSTGPU_FAIL_AT", 0) ||
         number >= number_from_environment("HOSTGPU_FAIL_FROM", INT64_MAX) ||
         bytes > number_from_environment("HOSTGPU_FAIL_ABOVE", INT64_MAX);
}

static void allocate(const SP_Device *device, uint64_t size, int64_t space,
                     SP_DeviceMemoryBase *memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = NULL;
  memory->size = 0;
  if (shall_fail(size) || !book_take(device->ordinal, size)) return;
  memory->opaque = device_memory(size);
  memory->size = memory->opaque ? size : 0;
  if (!memory->opaque) book_give_back(device->ordinal, size);
}

static void deallocate(const SP_Device *device, SP_DeviceMemoryBase *memory) {
  if (memory->opaque) {
    book_give_back(device->ordinal, memory->size);
    munmap(memory->opaque, memory->size);
  }
  memory->opaque = NULL;
  memory->size = 0;
}

static void *host_allocate(const SP_Device *device, uint64_t size) { return host_memory(size); }
static void host_deallocate(const SP_Device *device, void *memory) { free(memory); }

/* The pool above keeps its own statistics. */
static TF_Bool allocator_stats(const SP_Device *device, SP_AllocatorStats *stats) { return 0; }

/* This is how a process learns what others hold. */
static TF_Bool memory_usage(const SP_Device *device, int64_t *free_bytes, int64_t *total_bytes) {
  book_enter(device->ordinal);
  *total_bytes = book_total(device->ordinal);
  *free_bytes = *total_bytes - book_used(device->ordinal);
  return 1;
}

void add_memory(SP_StreamExecutor *executor) {
  executor->allocate = allocate;
  executor->deallocate = deallocate;
  executor->host_memory_allocate = host_allocate;
  executor->host_memory_deallocate = host_deallocate;
  executor->get_allocator_stats = allocator_stats;
  executor->device_memory_usage = memory_usage;
}
