"""How many bytes an object really holds; no code of the user's is run to find out.

A TensorFlow tensor of 4 MB tells `sys.getsizeof` 184 bytes, and a view of an array tells the
bytes of its owner once more. So the types that matter have a function of their own.
"""

import io
import mmap
import sys
from array import array
from collections.abc import Callable, Sequence
from types import MethodDescriptorType, ModuleType
from typing import Any

from lowwater.agent.census.kinds import attribute, basic_size, derives, is_a, loaded_type
from lowwater.model.interruption import let_through

Size = Callable[[Any], int]
# A buffer's address and its bytes: two objects may share one buffer, and it counts once. What no
# other object can share has no address: a million addresses would be a lot to remember.
Buffer = Callable[[Any], tuple[int | None, int]]

_PYTHONS_OWN = vars(object)["__sizeof__"]
_item_size: Callable[[type], int] = type.__dict__["__itemsize__"].__get__
# CPython takes larger ones from malloc.
_LARGEST_SMALL = 512
_BUILT_IN = frozenset({str, bytes, bytearray, int, float, list, tuple, dict, set, frozenset})
# What is counted where it is met, whoever has a view of it; a mapped file is not memory of the
# program's own.
_OWNERS = (bytes, bytearray, array, mmap.mmap, type(io.BytesIO().getbuffer().obj))
_JAX_ARRAY = ("jax._src.array", "ArrayImpl")
# What an isolated call has sent back: mapped, and yet memory of the program's own.
_RESULT = ("lowwater.isolation.parcel", "SharedMemory")
# Each element of a string tensor, without the text that does not fit into it.
_STRING_BYTES = 24


class Sizes:
    """The size function of each type, found once; knows only libraries that are loaded."""

    def __init__(self) -> None:
        """Look at which libraries the program has imported by now."""
        self.total_bytes = 0
        self.large_bytes = 0
        self._sizes: dict[type, Size] = {}
        self._same_sizes: dict[type, int | None] = {}
        self._buffers: set[int] = set()
        self._special: list[tuple[type, Buffer]] = [
            (kind, buffer)
            for module, name, buffer in BUFFERS
            if (kind := loaded_type(module, name)) is not None
        ]

    def total(self, kind: type, objects: Sequence[Any]) -> int:
        """The bytes of many objects of one type."""
        same = self._same_size(kind, objects)
        if same is not None:
            total_bytes = same * len(objects)
            large_bytes = total_bytes if same > _LARGEST_SMALL else 0
        else:
            total_bytes = large_bytes = 0
            for size in map(self.of(kind), objects):  # no list: there may be millions
                total_bytes += size
                if size > _LARGEST_SMALL:
                    large_bytes += size
        self.total_bytes += total_bytes
        self.large_bytes += large_bytes
        return total_bytes

    def _same_size(self, kind: type, objects: Sequence[Any]) -> int | None:
        """The size that all objects of this type have, if they do: a hundred thousand functions."""
        if kind not in self._same_sizes and objects:
            is_same = _has_one_size(kind) and not self._is_special(kind)
            self._same_sizes[kind] = self.of(kind)(objects[0]) if is_same else None
        return self._same_sizes.get(kind)

    def _is_special(self, kind: type) -> bool:
        return any(derives(kind, base) for base, _ in self._special)

    def of(self, kind: type) -> Size:
        """The function that measures instances of this type."""
        size = self._sizes.get(kind)
        if size is None:
            size = self._sizes[kind] = self._find(kind)
        return size

    def _find(self, kind: type) -> Size:
        if kind in _BUILT_IN:
            return sys.getsizeof
        for base, buffer in self._special:
            if derives(kind, base):
                return self._once_per_buffer(buffer, basic_size(kind))
        return _plain_size(kind)

    def _once_per_buffer(self, buffer: Buffer, header_bytes: int) -> Size:
        counted = self._buffers

        def size(holder: Any) -> int:  # noqa: ANN401 - any object of a library
            try:
                address, count = buffer(holder)
            except Exception as error:  # noqa: BLE001 - a deleted variable, a donated array
                let_through(error)
                return header_bytes
            if address in counted:
                return header_bytes
            if address is not None:
                counted.add(address)
            return header_bytes + count

        return size


def _has_one_size(kind: type) -> bool:
    """Whether nothing of an object's own tells its size: it has no items, and Python adds none."""
    return attribute(kind, "__sizeof__") is _PYTHONS_OWN and not _item_size(kind)


def _plain_size(kind: type) -> Size:
    basic = basic_size(kind)
    # A class may define `__sizeof__` in Python: that is the user's code, and stays unrun.
    # `object` stands for types that must not be looked at; it adds nothing to the basic size.
    if kind is object or type(attribute(kind, "__sizeof__")) is not MethodDescriptorType:
        return lambda _: basic

    def size(holder: Any) -> int:  # noqa: ANN401
        try:
            return sys.getsizeof(holder)
        except Exception as error:  # noqa: BLE001
            let_through(error)
            return basic

    return size


def _numpy() -> ModuleType:
    return sys.modules["numpy"]


def _numpy_array(array: Any) -> tuple[int | None, int]:  # noqa: ANN401
    ndarray = _numpy().ndarray
    base = ndarray.base.__get__(array)
    count = ndarray.nbytes.__get__(array)
    if base is None:
        return None, count
    while type(base) is memoryview:
        base = base.obj
    if derives(type(base), loaded_type(*_RESULT)):
        return id(base), count
    if is_a(base, ndarray, *_OWNERS) or derives(type(base), loaded_type(*_JAX_ARRAY)):
        return None, 0
    return ndarray.__array_interface__.__get__(array)["data"][0], count


def _tensor(tensor: Any) -> tuple[None, int]:  # noqa: ANN401
    kind = tensor.dtype
    if kind.name in {"resource", "variant"}:
        return None, 0
    # 0.2 µs; the shape would take 20. What stands in long strings, no cheap call tells.
    return None, tensor._num_elements() * (kind.size or _STRING_BYTES)  # noqa: SLF001


def _variable(variable: Any) -> tuple[int, int]:  # noqa: ANN401
    elements = variable.shape.num_elements()
    # The handle is a tensor too, without bytes of its own: its address is taken.
    return -id(variable.handle), (elements or 0) * variable.dtype.size


def _jax_array(array: Any) -> tuple[None, int]:  # noqa: ANN401
    if array.is_deleted():
        return None, 0
    return None, array.nbytes


def _torch_tensor(tensor: Any) -> tuple[int, int]:  # noqa: ANN401
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()


BUFFERS: tuple[tuple[str, str, Buffer], ...] = (
    ("numpy", "ndarray", _numpy_array),
    ("tensorflow.python.framework.ops", "EagerTensor", _tensor),
    ("tensorflow.python.ops.resource_variable_ops", "BaseResourceVariable", _variable),
    (*_JAX_ARRAY, _jax_array),
    ("torch", "Tensor", _torch_tensor),
)
