/* A TensorFlow device of type GPU that is only host memory, for tests: see README.md. */
#include "book.h"
#include "plugin.h"

#include <stdio.h>

static void device_count(const SP_Platform *platform, int *count, TF_Status *status) {
  *count = book_device_count();
  ok(status);
}

static void create_device(const SP_Platform *platform, SE_CreateDeviceParams *params,
                          TF_Status *status) {
  static char bus_ids[MAX_DEVICES][16];
  char *bus_id = bus_ids[params->ordinal];
  snprintf(bus_id, sizeof(bus_ids[0]), "0000:00:%02x.0", params->ordinal & 0xff);
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "host memory that plays a GPU";
  params->device->device_vendor = "Lowwater's tests";
  params->device->pci_bus_id = bus_id;
  ok(status);
}

static void destroy_device(const SP_Platform *platform, SP_Device *device) {}

static void create_device_fns(const SP_Platform *platform, SE_CreateDeviceFnsParams *params,
                              TF_Status *status) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  ok(status);
}

static void destroy_device_fns(const SP_Platform *platform, SP_DeviceFns *functions) {}

static void create_executor(const SP_Platform *platform, SE_CreateStreamExecutorParams *params,
                            TF_Status *status) {
  params->stream_executor->struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  add_memory(params->stream_executor);
  add_streams(params->stream_executor);
  add_copies(params->stream_executor);
  ok(status);
}

static void destroy_executor(const SP_Platform *platform, SP_StreamExecutor *executor) {}

static uint64_t nanoseconds(SP_Timer timer) { return 0; }

static void create_timer_fns(const SP_Platform *platform, SP_TimerFns *timer, TF_Status *status) {
  timer->nanoseconds = nanoseconds;
  ok(status);
}

static void destroy_timer_fns(const SP_Platform *platform, SP_TimerFns *timer) {}
static void destroy_platform(SP_Platform *platform) {}
static void destroy_platform_fns(SP_PlatformFns *functions) {}

static void describe(SP_Platform *platform) {
  platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  platform->name = "HOSTGPU";
  platform->type = "GPU";
  platform->supports_unified_memory = 0;
  platform->use_bfc_allocator = 1; /* TensorFlow's own pool, as on a GPU */
  platform->force_memory_growth = 0;
}

void SE_InitPlugin(SE_PlatformRegistrationParams *params, TF_Status *status) {
  book_forget_this_process();
  describe(params->platform);
  SP_PlatformFns *functions = params->platform_fns;
  functions->get_device_count = device_count;
  functions->create_device = create_device;
  functions->destroy_device = destroy_device;
  functions->create_device_fns = create_device_fns;
  functions->destroy_device_fns = destroy_device_fns;
  functions->create_stream_executor = create_executor;
  functions->destroy_stream_executor = destroy_executor;
  functions->create_timer_fns = create_timer_fns;
  functions->destroy_timer_fns = destroy_timer_fns;
  params->destroy_platform = destroy_platform;
  params->destroy_platform_fns = destroy_platform_fns;
  ok(status);
}
