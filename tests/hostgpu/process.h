/* What the system knows of a process. */
#ifndef HOSTGPU_PROCESS_H
#define HOSTGPU_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* When a process started, in ticks; 0 if it is gone, or dead and not yet waited for.
   A process number is used again, but not with the same start. */
uint64_t process_start_time(int pid);

/* The program that a process runs; 0 if there is no such process. */
int process_name(int pid, char *name, size_t size);

#endif
