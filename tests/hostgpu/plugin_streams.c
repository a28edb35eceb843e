/* Streams, events and timers: everything is done at once, so there is nothing to wait for. */
#include "plugin.h"

#include <stdlib.h>

struct SP_Stream_st {
  int unused;
};
struct SP_Event_st {
  int unused;
};
struct SP_Timer_st {
  int unused;
};

static void create_stream(const SP_Device *device, SP_Stream *stream, TF_Status *status) {
  *stream = calloc(1, sizeof(**stream));
  ok(status);
}
static void destroy_stream(const SP_Device *device, SP_Stream stream) { free(stream); }
static void depend(const SP_Device *device, SP_Stream dependent, SP_Stream other,
                   TF_Status *status) {
  ok(status);
}
static void stream_status(const SP_Device *device, SP_Stream stream, TF_Status *status) {
  ok(status);
}

static void create_event(const SP_Device *device, SP_Event *event, TF_Status *status) {
  *event = calloc(1, sizeof(**event));
  ok(status);
}
static void destroy_event(const SP_Device *device, SP_Event event) { free(event); }
static SE_EventStatus event_status(const SP_Device *device, SP_Event event) {
  return SE_EVENT_COMPLETE;
}
static void record_event(const SP_Device *device, SP_Stream stream, SP_Event event,
                         TF_Status *status) {
  ok(status);
}
static void wait_for_event(const SP_Device *device, SP_Stream stream, SP_Event event,
                           TF_Status *status) {
  ok(status);
}

static void create_timer(const SP_Device *device, SP_Timer *timer, TF_Status *status) {
  *timer = calloc(1, sizeof(**timer));
  ok(status);
}
static void destroy_timer(const SP_Device *device, SP_Timer timer) { free(timer); }
static void run_timer(const SP_Device *device, SP_Stream stream, SP_Timer timer,
                      TF_Status *status) {
  ok(status);
}

static void block_for_event(const SP_Device *device, SP_Event event, TF_Status *status) {
  ok(status);
}
static void block_until_done(const SP_Device *device, SP_Stream stream, TF_Status *status) {
  ok(status);
}
static void synchronize(const SP_Device *device, TF_Status *status) { ok(status); }

static TF_Bool host_callback(const SP_Device *device, SP_Stream stream, SE_StatusCallbackFn call,
                             void *argument) {
  TF_Status *status = TF_NewStatus();
  call(argument, status);
  TF_DeleteStatus(status);
  return 1;
}

void add_streams(SP_StreamExecutor *executor) {
  executor->create_stream = create_stream;
  executor->destroy_stream = destroy_stream;
  executor->create_stream_dependency = depend;
  executor->get_stream_status = stream_status;
  executor->create_event = create_event;
  executor->destroy_event = destroy_event;
  executor->get_event_status = event_status;
  executor->record_event = record_event;
  executor->wait_for_event = wait_for_event;
  executor->create_timer = create_timer;
  executor->destroy_timer = destroy_timer;
  executor->start_timer = run_timer;
  executor->stop_timer = run_timer;
  executor->block_host_for_event = block_for_event;
  executor->block_host_until_done = block_until_done;
  executor->synchronize_all_activity = synchronize;
  executor->host_callback = host_callback;
}
