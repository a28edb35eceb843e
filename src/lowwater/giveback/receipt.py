"""What a release gave back, what it could not, and why: numbers and words, never an object."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lowwater.giveback import _receipt_html, _receipt_text
from lowwater.model import Status, TraceNode


def given_back(before: int | None, after: int | None) -> int | None:
    """The difference, where both are known."""
    return None if before is None or after is None else before - after


def parts_given_back(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """The same for each part that is known both times."""
    return {name: before[name] - after[name] for name in before if name in after}


@dataclass(frozen=True, slots=True)
class StepDone:
    """One step of the ladder: what died, and the bytes that came back.

    `skipped` is the reason if the step did nothing. Bytes are None where they could not be
    measured.
    """

    name: str
    in_use_bytes: int | None = 0
    system_bytes: int | None = 0
    device_bytes: int = 0
    died: Mapping[str, int] = field(default_factory=dict)
    about: str = ""
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Keeper:
    """One variable of the program that keeps an object alive, and the way from it.

    The trace begins at the call or the module that has the variable, and ends with the object.
    """

    held_by: str
    where: str | None = None
    trace: tuple[TraceNode, ...] = ()


@dataclass(frozen=True, slots=True)
class Survivor:
    """An object that was not freed, and the path by which the program still reaches it.

    The trace is that of the first holder, which is the nearest; `others` are all other holders.
    """

    what: str
    held_by: str
    where: str | None = None
    trace: tuple[TraceNode, ...] = ()
    others: tuple[Keeper, ...] = ()


@dataclass(frozen=True, slots=True)
class Reserve:
    """Memory that a pool keeps: only the end of the process returns it."""

    pool: str
    size_bytes: int
    in_use_bytes: int


@dataclass(frozen=True, slots=True)
class DeviceReceipt:
    """One accelerator before and after; what is None could not be measured.

    `driver_bytes` is what this process takes of it according to the driver: the pool of the
    framework and the context. The pool keeps what it has, so this falls only with the process.
    `others_bytes` is what all other processes take.
    """

    place: str
    in_use_before_bytes: int | None
    in_use_after_bytes: int | None
    driver_before_bytes: int | None = None
    driver_after_bytes: int | None = None
    driver_free_bytes: int | None = None
    others_bytes: int | None = None
    not_measured: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The outcome of one release. It holds names and numbers only, so it keeps nothing alive.

    `freed_bytes` went back to the allocators and `system_bytes` from there to the operating
    system. `freed_parts` says what the first consists of: what `malloc` had handed out, as
    `psutil.heap_info()` counts it, small objects of `python`, estimated from their number,
    tensors inside TensorFlow's `pool`, and `results` of isolated calls. `device_bytes` went
    back to the allocators of accelerators; `devices` has a section for each of them.
    `grown_bytes` is what memory in use had grown by inside a `lifecycle` block. `looked_for` says
    what is not left if there are no `survivors`.
    """

    name: str | None = None
    steps: tuple[StepDone, ...] = ()
    survivors: tuple[Survivor, ...] = ()
    freed_bytes: int | None = None
    system_bytes: int | None = None
    device_bytes: int = 0
    grown_bytes: int | None = None
    emptied: tuple[str, ...] = ()
    reserves: tuple[Reserve, ...] = ()
    notes: tuple[str, ...] = ()
    freed_parts: Mapping[str, int] = field(default_factory=dict)
    devices: tuple[DeviceReceipt, ...] = ()
    looked_for: str = "no model, optimizer, layer or variable of the program"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries, lists, strings and numbers, for JSON."""
        return {"schema": "lowwater.receipt/1", **_plain(dataclasses.asdict(self))}

    def __str__(self) -> str:
        return _receipt_text.render(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return _receipt_html.render(self)


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a field holds
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value.value if isinstance(value, Status) else value
