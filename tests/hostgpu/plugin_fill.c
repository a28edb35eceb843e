/* The one kernel of the device: Fill, which is tf.zeros, tf.ones and tf.fill, for float32.

   TensorFlow computes everything else on the CPU and copies. A copy that finds no room is an
   InternalError; only a kernel that finds none is a ResourceExhaustedError, as on a GPU. */
#include <stddef.h>

#include "plugin.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/tf_tensor.h"

enum { MAX_DIMENSIONS = 254 };

static int64_t dimension(const TF_Tensor *dims, int i) {
  const void *data = TF_TensorData(dims);
  return TF_TensorType(dims) == TF_INT64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}

static TF_Tensor *allocate_output(TF_OpKernelContext *context, const TF_Tensor *dims,
                                  TF_Status *status) {
  int64_t shape[MAX_DIMENSIONS];
  size_t size = sizeof(float);
  int rank = (int)TF_TensorElementCount(dims);
  for (int i = 0; i < rank && i < MAX_DIMENSIONS; i++) size *= (shape[i] = dimension(dims, i));
  return TF_AllocateOutput(context, 0, TF_FLOAT, shape, rank, size, status);
}

static void fill(void *kernel, TF_OpKernelContext *context) {
  TF_Status *status = TF_NewStatus();
  TF_Tensor *dims = NULL, *value = NULL, *output = NULL;
  TF_GetInput(context, 0, &dims, status);
  if (TF_GetCode(status) == TF_OK) TF_GetInput(context, 1, &value, status);
  if (TF_GetCode(status) == TF_OK) output = allocate_output(context, dims, status);
  if (TF_GetCode(status) == TF_OK) {
    float *data = TF_TensorData(output);
    for (int64_t i = TF_TensorElementCount(output); i-- > 0;) data[i] = *(float *)TF_TensorData(value);
  } else {
    TF_OpKernelContext_Failure(context, status);
  }
  if (output) TF_DeleteTensor(output);
  if (value) TF_DeleteTensor(value);
  if (dims) TF_DeleteTensor(dims);
  TF_DeleteStatus(status);
}

/* TensorFlow calls it when it has loaded the device. */
void TF_InitKernel(void) {
  TF_Status *status = TF_NewStatus();
  TF_KernelBuilder *builder = TF_NewKernelBuilder("Fill", "GPU", NULL, fill, NULL);
  TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status);
  TF_KernelBuilder_HostMemory(builder, "dims");
  TF_KernelBuilder_HostMemory(builder, "value");
  TF_RegisterKernelBuilder("Fill on host memory that plays a GPU", builder, status);
  TF_DeleteStatus(status);
}
