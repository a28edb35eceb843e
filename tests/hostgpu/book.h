/* The book of a GPU that is only host memory: which process holds how many bytes of which device.

   It is a file that all processes map, so that they compete for the same bytes. The device plugin
   writes it; the NVML library reads it. */
#ifndef HOSTGPU_BOOK_H
#define HOSTGPU_BOOK_H

#include <stdint.h>

enum { MAX_DEVICES = 8, MAX_PROCESSES = 128 };

typedef struct {
  int pid;
  int64_t bytes;
} Holder;

/* 0 without the variable HOSTGPU_BOOK: then there is no such machine. */
int book_device_count(void);
int64_t book_total(int device);
int64_t book_used(int device);

/* The context of this process on a device: HOSTGPU_CONTEXT_BYTES, taken once. */
void book_enter(int device);
/* 1 if the bytes are ours now, 0 if there is no room for them. */
int book_take(int device, int64_t bytes);
void book_give_back(int device, int64_t bytes);
/* After exec() the process is the same to the system, but it holds nothing any more. */
void book_forget_this_process(void);

/* Fills at most MAX_PROCESSES holders and returns how many. */
int book_holders(int device, Holder *holders);

void book_note_activity(int device);
/* Whether a device worked in the last second. */
int book_is_active(int device);

/* The number in an environment variable, or `missing`. */
int64_t number_from_environment(const char *name, int64_t missing);

#endif
