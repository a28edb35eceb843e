/* Copies and fills: plain ones, because the device's memory is the host's. */
#include "book.h"
#include "plugin.h"

#include <string.h>

static void copy(const SP_Device *device, void *to, const void *from, uint64_t size,
                 TF_Status *status) {
  memcpy(to, from, size);
  book_note_activity(device->ordinal);
  ok(status);
}

static void to_host(const SP_Device *device, SP_Stream stream, void *to,
                    const SP_DeviceMemoryBase *from, uint64_t size, TF_Status *status) {
  copy(device, to, from->opaque, size, status);
}
static void to_device(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *to,
                      const void *from, uint64_t size, TF_Status *status) {
  copy(device, to->opaque, from, size, status);
}
static void inside(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *to,
                   const SP_DeviceMemoryBase *from, uint64_t size, TF_Status *status) {
  copy(device, to->opaque, from->opaque, size, status);
}
static void to_host_now(const SP_Device *device, void *to, const SP_DeviceMemoryBase *from,
                        uint64_t size, TF_Status *status) {
  copy(device, to, from->opaque, size, status);
}
static void to_device_now(const SP_Device *device, SP_DeviceMemoryBase *to, const void *from,
                          uint64_t size, TF_Status *status) {
  copy(device, to->opaque, from, size, status);
}
static void inside_now(const SP_Device *device, SP_DeviceMemoryBase *to,
                       const SP_DeviceMemoryBase *from, uint64_t size, TF_Status *status) {
  copy(device, to->opaque, from->opaque, size, status);
}

static void fill(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *memory,
                 uint8_t byte, uint64_t size, TF_Status *status) {
  memset(memory->opaque, byte, size);
  book_note_activity(device->ordinal);
  ok(status);
}
static void zero(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *memory,
                 uint64_t size, TF_Status *status) {
  fill(device, stream, memory, 0, size, status);
}
static void fill_words(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *memory,
                       uint32_t word, uint64_t size, TF_Status *status) {
  for (uint64_t i = 0; i < size / sizeof(word); i++) ((uint32_t *)memory->opaque)[i] = word;
  book_note_activity(device->ordinal);
  ok(status);
}

void add_copies(SP_StreamExecutor *executor) {
  executor->memcpy_dtoh = to_host;
  executor->memcpy_htod = to_device;
  executor->memcpy_dtod = inside;
  executor->sync_memcpy_dtoh = to_host_now;
  executor->sync_memcpy_htod = to_device_now;
  executor->sync_memcpy_dtod = inside_now;
  executor->mem_zero = zero;
  executor->memset = fill;
  executor->memset32 = fill_words;
}
