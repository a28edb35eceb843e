/* A libnvidia-ml.so.1 that answers from the book of a GPU that is only host memory, for tests. */
#include "nvml.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "book.h"
#include "nvml_faults.h"
#include "process.h"

/* No process of this machine has such a number: Linux ends at 4194304. */
enum { FOREIGN_PIDS_START_AT = 5000000 };

static int users;

/* Start and end */

nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
  wait_while_stuck();
  if (has_fault("version-mismatch")) return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
  if (has_fault("driver-not-loaded") || !book_device_count()) return NVML_ERROR_DRIVER_NOT_LOADED;
  __atomic_add_fetch(&users, 1, __ATOMIC_RELAXED);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlInit(void) { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlShutdown(void) {
  if (!users) return NVML_ERROR_UNINITIALIZED;
  __atomic_sub_fetch(&users, 1, __ATOMIC_RELAXED);
  return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t error) {
  return error ? "an error of the NVML that the tests play" : "success";
}

/* What every answer needs first */

static nvmlReturn_t ready(void) {
  if (!users) return NVML_ERROR_UNINITIALIZED;
  return is_lost() ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

/* A handle is the number of the device and 1: NULL is no device. */
static nvmlReturn_t find(nvmlDevice_t handle, int *device) {
  nvmlReturn_t error = ready();
  *device = (int)(intptr_t)handle - 1;
  if (error) return error;
  return *device >= 0 && *device < book_device_count() ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

static nvmlReturn_t say(char *to, unsigned int size, const char *text) {
  return (size_t)snprintf(to, size, "%s", text) < size ? NVML_SUCCESS
                                                       : NVML_ERROR_INSUFFICIENT_SIZE;
}

/* The system */

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int size) {
  nvmlReturn_t error = ready();
  return error ? error : say(version, size, "0.0 (host memory that plays a GPU)");
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int size) {
  nvmlReturn_t error = ready();
  return error ? error : say(version, size, "0.0 (host memory that plays a GPU)");
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int size) {
  nvmlReturn_t error = ready();
  if (error) return error;
  if (has_fault("no-permission")) return NVML_ERROR_NO_PERMISSION;
  return process_name((int)pid, name, size) ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

/* Devices */

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
  nvmlReturn_t error = ready();
  if (!error) *count = (unsigned int)book_device_count();
  return error;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *handle) {
  int device;
  *handle = (nvmlDevice_t)((intptr_t)index + 1);
  return find(*handle, &device);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned int *index) {
  int device;
  nvmlReturn_t error = find(handle, &device);
  if (!error) *index = (unsigned int)device;
  return error;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char *name, unsigned int size) {
  int device;
  nvmlReturn_t error = find(handle, &device);
  return error ? error : say(name, size, "host memory that plays a GPU");
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char *uuid, unsigned int size) {
  int device;
  char text[48];
  nvmlReturn_t error = find(handle, &device);
  snprintf(text, sizeof(text), "GPU-00000000-0000-0000-0000-%012d", device);
  return error ? error : say(uuid, size, text);
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned int *now, unsigned int *pending) {
  int device;
  nvmlReturn_t error = find(handle, &device);
  if (error) return error;
  *now = *pending = 1;
  return has_fault("mig") ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle, nvmlUtilization_t *rates) {
  int device;
  nvmlReturn_t error = find(handle, &device);
  if (error) return error;
  if (has_fault("mig")) return NVML_ERROR_NOT_SUPPORTED;
  rates->gpu = rates->memory = book_is_active(device) ? 100 : 0;
  return NVML_SUCCESS;
}

/* Memory */

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t *memory) {
  int device;
  nvmlReturn_t error = find(handle, &device);
  if (error) return error;
  memory->total = (unsigned long long)book_total(device);
  memory->used = (unsigned long long)book_used(device);
  memory->free = memory->total - memory->used;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, nvmlMemory_v2_t *memory) {
  nvmlMemory_t plain;
  if (has_fault("old-driver")) return NVML_ERROR_FUNCTION_NOT_FOUND;
  if (memory->version != NVML_MEMORY_V2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  nvmlReturn_t error = nvmlDeviceGetMemoryInfo(handle, &plain);
  if (!error)
    *memory = (nvmlMemory_v2_t){NVML_MEMORY_V2, plain.total, 0, plain.free, plain.used};
  return error;
}

/* Processes */

static unsigned long long bytes_shown(int64_t bytes) {
  if (has_fault("bytes-not-available")) return NVML_VALUE_NOT_AVAILABLE;
  return has_fault("zero-bytes") ? 0 : (unsigned long long)bytes;
}

static nvmlProcessInfo_v2_t shown(Holder holder) {
  unsigned int pid = (unsigned int)holder.pid;
  if (has_fault("foreign-pids")) pid += FOREIGN_PIDS_START_AT;
  return (nvmlProcessInfo_v2_t){pid, bytes_shown(holder.bytes), NVML_NO_INSTANCE, NVML_NO_INSTANCE};
}

/* Fills `count` holders, or says how much room they need, as NVML does. */
static nvmlReturn_t find_holders(nvmlDevice_t handle, unsigned int *count, Holder *holders) {
  int device;
  nvmlReturn_t error = find(handle, &device);
  if (error) return error;
  if (has_fault("no-permission")) return NVML_ERROR_NO_PERMISSION;
  unsigned int room = *count;
  *count = has_fault("no-processes") ? 0 : (unsigned int)book_holders(device, holders);
  return *count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t handle, unsigned int *count,
                                                     nvmlProcessInfo_v2_t *processes) {
  Holder holders[MAX_PROCESSES];
  nvmlReturn_t error = find_holders(handle, count, holders);
  for (unsigned int i = 0; !error && i < *count; i++) processes[i] = shown(holders[i]);
  return error;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned int *count,
                                                     nvmlProcessInfo_v2_t *processes) {
  if (has_fault("old-driver")) return NVML_ERROR_FUNCTION_NOT_FOUND;
  return nvmlDeviceGetComputeRunningProcesses_v2(handle, count, processes);
}

/* The first version, under the name without a number: its layout is shorter. */
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t handle, unsigned int *count,
                                                  nvmlProcessInfo_v1_t *processes) {
  Holder holders[MAX_PROCESSES];
  nvmlReturn_t error = find_holders(handle, count, holders);
  for (unsigned int i = 0; !error && i < *count; i++) {
    nvmlProcessInfo_v2_t whole = shown(holders[i]);
    processes[i] = (nvmlProcessInfo_v1_t){whole.pid, whole.usedGpuMemory};
  }
  return error;
}
