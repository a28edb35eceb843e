/* The parts of the device plugin: each fills in its functions. */
#ifndef HOSTGPU_PLUGIN_H
#define HOSTGPU_PLUGIN_H

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

static inline void ok(TF_Status *status) { TF_SetStatus(status, TF_OK, ""); }

void add_memory(SP_StreamExecutor *executor);
void add_streams(SP_StreamExecutor *executor);
void add_copies(SP_StreamExecutor *executor);

#endif
