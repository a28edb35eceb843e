"""What holds the bytes: tensors, variables and arrays, with their size and where they are.

Only what an object tells without work is read: its shape, its type and its device. Nothing is
copied, computed or waited for.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from lowwater.agent.census.kinds import derives, loaded_type
from lowwater.agent.census.sizes import BUFFERS, Buffer
from lowwater.model.gauges import HOST
from lowwater.model.interruption import let_through

TENSOR: Final = "tensor"
VARIABLE: Final = "variable"
ARRAY: Final = "array"

_RESOURCE_VARIABLE: Final = (
    "tensorflow.python.ops.resource_variable_ops",
    "BaseResourceVariable",
)
_KINDS: Final = {"EagerTensor": TENSOR, "BaseResourceVariable": VARIABLE, "Tensor": TENSOR}


class Leaf(NamedTuple):
    """A part of an object that lies in one place.

    `buffer` is the same for all objects that share it; None where no other object can.
    """

    place: str
    size_bytes: int
    buffer: int | None = None


class Leaves:
    """The types of the libraries that are loaded, and how to read their objects."""

    def __init__(self) -> None:
        """Look at which libraries the program has imported by now."""
        self._types: list[tuple[type, str, Buffer, Callable[[Any], list[str]]]] = [
            (kind, _KINDS.get(name, ARRAY), buffer, _PLACES[name])
            for module, name, buffer in BUFFERS
            if (kind := loaded_type(module, name)) is not None
        ]
        self._variable = loaded_type(*_RESOURCE_VARIABLE)

    def identity(self, thing: Any) -> int:  # noqa: ANN401
        """By what an object is known: two variables of TensorFlow with one handle are one."""
        return id(thing.handle if derives(type(thing), self._variable) else thing)

    def kind(self, kind: type) -> str | None:
        """What the type is called; None where its objects hold no such bytes."""
        return next((told for base, told, _, _ in self._types if derives(kind, base)), None)

    def of(self, thing: Any) -> Iterator[Leaf]:  # noqa: ANN401 - an object of a library
        """The parts of one object; none where it was deleted, or does not tell."""
        for base, _, buffer, places in self._types:
            if derives(type(thing), base):
                try:
                    address, size_bytes = buffer(thing)
                    found = places(thing) if size_bytes else []
                except Exception as error:  # noqa: BLE001 - a deleted variable, a donated array
                    let_through(error)
                    return
                # One that is spread over devices is told in equal parts.
                for place in found:
                    yield Leaf(place, size_bytes // len(found), address)
                return


def place_of_name(device: str) -> str:
    """`/job:localhost/replica:0/task:0/device:GPU:0` is `GPU:0`; a CPU is the host."""
    short = device.rpartition("/device:")[2]
    return HOST if not short or short.startswith("CPU") else short


def _of_tensor(tensor: Any) -> list[str]:  # noqa: ANN401
    # Some kernels of a GPU leave small results in the memory of the host.
    return [place_of_name(tensor.backing_device)]


def _of_variable(variable: Any) -> list[str]:  # noqa: ANN401
    return [place_of_name(variable.handle.device)]


def _of_jax(array: Any) -> list[str]:  # noqa: ANN401
    from lowwater.probes.jax_memory import place_of

    return [place_of(device) for device in array.devices()]


def _of_torch(tensor: Any) -> list[str]:  # noqa: ANN401
    device = tensor.device
    kind = "GPU" if device.type == "cuda" else str(device.type).upper()
    return [HOST if kind == "CPU" else f"{kind}:{device.index or 0}"]


_PLACES: dict[str, Callable[[Any], list[str]]] = {
    "ndarray": lambda _: [HOST],
    "EagerTensor": _of_tensor,
    "BaseResourceVariable": _of_variable,
    "ArrayImpl": _of_jax,
    "Tensor": _of_torch,
}
