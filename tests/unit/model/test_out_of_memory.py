"""What each library says was asked for; the texts are real, but for that of a GPU under torch."""

import numpy as np
import pytest

from lowwater.model.out_of_memory import is_out_of_memory, line_of, pool_says, request_of

MIB, GIB = 1 << 20, 1 << 30


def an_error(library, name, text, *bases):
    """An exception as a library would raise it; none is imported for it."""
    return type(name, bases or (Exception,), {"__module__": f"{library}.errors"})(text)


def of_tensorflow(text):
    return an_error("tensorflow", "ResourceExhaustedError", text)


def of_numpy():
    try:
        np.ones(1 << 40)
    except MemoryError as error:
        return error


# Of TensorFlow 2.21, eager and in a graph.
EAGER = (
    "{{function_node __wrapped__Mul_device_/job:localhost/replica:0/task:0/device:CPU:0}} OOM when "
    "allocating tensor with shape[1024,1024] and type float on "
    "/job:localhost/replica:0/task:0/device:CPU:0 by allocator bfc_cpu_allocator_for_gpu [Op:Mul] "
    "name: "
)
IN_GRAPH = """\
Graph execution error:

Detected at node gradient_tape/functional_1/dense_1_2/MatMul/MatMul defined at (most recent call \
last):
<stack traces unavailable>
OOM when allocating tensor with shape[2048,4096] and type half on \
/job:localhost/replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc
\t [[{{node gradient_tape/functional_1/dense_1_2/MatMul/MatMul}}]]
Hint: If you want to see a list of allocated tensors when OOM happens, add \
report_tensor_allocations_upon_oom to RunOptions for current allocation info.
 [Op:__inference_multi_step_on_iterator_1173]"""
# Of torch 2.13 on the CPU, and of JAX 0.10.2.
TORCH = (
    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you "
    "tried to allocate 17592186044416 bytes. Error code 12 (Cannot allocate memory)"
)
JAX = "RESOURCE_EXHAUSTED: Out of memory allocating 1099511627776 bytes."
# From torch's documentation: there is no GPU here to provoke it on.
TORCH_GPU = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of "
    "which 512.00 MiB is free. Including non-PyTorch memory, this process has 7.50 GiB memory in "
    "use. Of the allocated memory 5.00 GiB is allocated by PyTorch, and 2.25 GiB is reserved by "
    "PyTorch but unallocated."
)


@pytest.mark.parametrize(
    ("error", "size", "shape", "place"),
    [
        (of_numpy(), 1 << 43, (1 << 40,), "host"),
        (of_tensorflow(EAGER), 4 * MIB, (1024, 1024), "host"),
        (of_tensorflow(IN_GRAPH), 16 * MIB, (2048, 4096), "GPU:1"),
        (RuntimeError(TORCH), 1 << 44, None, "host"),
        (an_error("jax", "JaxRuntimeError", JAX), 1 << 40, None, "host"),
        (an_error("torch", "OutOfMemoryError", TORCH_GPU), 2 * GIB, None, "GPU:0"),
        (MemoryError(), None, None, "host"),
    ],
)  # fmt: skip
def test_bytes_shape_and_place_are_read_from_what_the_library_says(error, size, shape, place):
    told = request_of(error)

    assert is_out_of_memory(error)
    assert (told.size_bytes, told.shape, told.place) == (size, shape, place)


def test_operation_and_allocator_are_named():
    told = request_of(an_error("tensorflow", "ResourceExhaustedError", EAGER))

    assert (told.operation, told.allocator) == ("Mul", "bfc_cpu_allocator_for_gpu")
    assert told.error.startswith("ResourceExhaustedError: OOM when allocating tensor with shape")


def test_line_that_tells_is_behind_the_headings_of_a_graph():
    told = request_of(an_error("tensorflow", "ResourceExhaustedError", IN_GRAPH))

    assert "OOM when allocating" in told.error
    assert told.operation.endswith("MatMul")


def test_line_that_tells_is_behind_the_heading_of_keras():
    error = ValueError(
        "Exception encountered when calling Net.call().\n\n"
        "\x1b[1man even number is wanted\x1b[0m\n\n"
        "Arguments received by Net.call():\n  • x=tf.Tensor(shape=(8, 4))"
    )

    assert line_of(error) == "ValueError: an even number is wanted"


def test_pool_of_torch_is_in_its_message():
    said = pool_says(an_error("torch", "OutOfMemoryError", TORCH_GPU))

    assert (said.limit_bytes, said.in_use_bytes) == (8 * GIB, 5 * GIB)
    assert said.free_bytes == 512 * MIB + round(2.25 * GIB)


@pytest.mark.parametrize(
    "text", ["", "with shape[]", "shape[1,,2]", "allocate 9" + "9" * 400 + " bytes", "\0[[(({{"]
)
def test_strange_messages_are_read_without_an_error(text):
    told = request_of(an_error("tensorflow", "ResourceExhaustedError", text))

    assert told.size_bytes is None or told.size_bytes >= 0


def test_sizes_stay_within_what_a_recording_holds():
    text = f"OOM when allocating tensor with shape[{'9' * 17},{'9' * 17}] and type double on x"

    assert request_of(an_error("tensorflow", "ResourceExhaustedError", text)).size_bytes == 1 << 53
