"""A value on its way between two processes: its pickle, and beside it its large arrays.

Arrays travel in memory that both sides map, so their bytes pass through no pipe and are not
copied a second time. Each has a file of its own: one that the receiver drops is freed at once,
although others of the same value live on.
"""

import io
import mmap
import os
import pickle
import resource
import sys
import tempfile
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any

import cloudpickle

from lowwater.isolation import keras_models, staged_functions
from lowwater.isolation.whole_modules import WholeModules, whole_modules

# ruff: noqa: ANN401 - anything that can be pickled

StaysHere = Callable[[Any], int | None]

# Below this a copy is cheaper than a mapping.
_LARGE_BYTES = 1024 * 1024
# A message carries at most 253 descriptors.
_MOST_FILES = 200
# Of the descriptors that the program may have open, the part that living arrays may keep.
_PART_OF_DESCRIPTORS = 4


class SharedMemory(mmap.mmap):
    """Mapped memory that is the program's own, unlike a mapped file: a census counts it."""


_living: weakref.WeakSet[SharedMemory] = weakref.WeakSet()


def mapped_bytes() -> int:
    """All that has arrived here and lives on."""
    return sum(len(mapping) for mapping in [*_living])


@dataclass(frozen=True, slots=True)
class Parcel:
    """A packed value; `buffers` are the arrays that stand beside the pickle."""

    pickled: bytes | memoryview
    buffers: tuple[memoryview, ...] = ()

    @property
    def size_bytes(self) -> int:
        """All of it."""
        return len(self.pickled) + sum(buffer.nbytes for buffer in self.buffers)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc] # it has no types
    """Sends along what the receiver could not find by its name."""

    def __init__(self, into: IO[bytes], modules: WholeModules, **options: Any) -> None:
        super().__init__(into, **options)
        self._modules = modules

    def reducer_override(self, thing: Any) -> Any:
        self._modules.look_at(thing)
        known = keras_models.reduced(thing) or staged_functions.reduced(thing)
        return known or super().reducer_override(thing)


class _LendingPickler(_Pickler):
    """Leaves out the objects that stay behind: they are named by a number."""

    def __init__(
        self, into: IO[bytes], modules: WholeModules, stays_here: StaysHere, **options: Any
    ) -> None:
        super().__init__(into, modules, **options)
        self._stays_here = stays_here

    def persistent_id(self, thing: Any) -> int | None:
        return self._stays_here(thing)


class _Unpickler(pickle.Unpickler):
    """Puts a stand-in in the place of each object that stayed behind."""

    def __init__(self, source: IO[bytes], load: Callable[[int], Any], **options: Any) -> None:
        super().__init__(source, **options)
        self._load = load

    def persistent_load(self, number: int) -> Any:
        return self._load(number)


def pack(value: Any, stays_here: StaysHere | None = None) -> Parcel:
    """Pickle the value, functions and classes of scripts and notebooks included.

    `stays_here` gives a number to an object that is not sent, and None to all others.
    """
    buffers: list[memoryview] = []

    def stays_in_the_pickle(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _LARGE_BYTES or len(buffers) == _MOST_FILES:
            return True
        buffers.append(raw)
        return False

    into = io.BytesIO()
    options: dict[str, Any] = {"protocol": 5, "buffer_callback": stays_in_the_pickle}
    with whole_modules() as modules:
        if stays_here is None:
            _Pickler(into, modules, **options).dump(value)
        else:
            _LendingPickler(into, modules, stays_here, **options).dump(value)
    return Parcel(into.getbuffer(), tuple(buffers))


def unpack(parcel: Parcel, load: Callable[[int], Any] | None = None) -> Any:
    """The value again; its large arrays are the mapped memory itself."""
    # From our own process, which runs what this very program told it to.
    if load is None:
        return pickle.loads(parcel.pickled, buffers=parcel.buffers)  # noqa: S301
    return _Unpickler(io.BytesIO(parcel.pickled), load, buffers=parcel.buffers).load()


def to_files(parcel: Parcel) -> list[IO[bytes]]:
    """Put the parcel into files that have no name: the pickle first, then each array."""
    return [_filled(part) for part in (parcel.pickled, *parcel.buffers)]


def from_descriptors(descriptors: Sequence[int], *, private: bool = False) -> Parcel:
    """Map what `to_files` wrote, and close the descriptors.

    `private` is for what may be sent once more: changes stay with this receiver.
    """
    try:
        pickled, *buffers = (_mapped(one, private=private) for one in descriptors)
    finally:
        for one in descriptors:
            os.close(one)
    return Parcel(pickled, tuple(buffers))


def copied(part: Any) -> memoryview:
    """The bytes in memory that may be changed, for what arrived where it may not be."""
    with memoryview(part) as view:
        mapping = SharedMemory(-1, view.nbytes)
        mapping[:] = view.cast("B")
    _living.add(mapping)
    return memoryview(mapping)


def _filled(part: bytes | memoryview) -> IO[bytes]:
    file, rest = nameless_file(), memoryview(part).cast("B")
    while rest:  # the kernel takes 2 GiB at a time
        rest = rest[file.write(rest) :]
    return file


def nameless_file() -> IO[bytes]:
    """In memory where that can be: it is gone with the last who has it open."""
    try:
        return open(os.memfd_create("lowwater"), "w+b", buffering=0)
    except (AttributeError, OSError):  # another system, or a sandbox
        return tempfile.TemporaryFile(buffering=0)


def _mapped(descriptor: int, *, private: bool) -> memoryview:
    size = os.fstat(descriptor).st_size
    kind = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
    mapping = SharedMemory(descriptor, size, flags=kind)
    # Python keeps a descriptor open for each: a program may have no more than it is allowed.
    if len(_living) >= _most_living():
        with mapping:
            return copied(mapping)
    _living.add(mapping)
    return memoryview(mapping)


def _most_living() -> int:
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return allowed // _PART_OF_DESCRIPTORS if allowed != resource.RLIM_INFINITY else sys.maxsize
