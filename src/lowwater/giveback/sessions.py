"""Open sessions of `tf.compat.v1`: listed, and closed."""

import contextlib
import math
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from lowwater.giveback.frames import shown
from lowwater.giveback.living import SESSION, strong
from lowwater.model.units import format_bytes

_VARIABLES = frozenset({"VarHandleOp", "VariableV2", "Variable"})


@dataclass(frozen=True, slots=True)
class SessionLeftOpen:
    """One session: how large its graph is, what its variables take, and who opened it.

    `variables_bytes` is the sum over the graph's variables whose shape is known: what the
    session holds once they are initialised. `opened_at` is known for sessions that were opened
    under `lowwater run`.
    """

    kind: str
    operations: int
    variables_bytes: int
    opened_at: str | None = None
    _reference: weakref.ref[Any] = field(repr=False, kw_only=True)

    @property
    def is_open(self) -> bool:
        """Whether it still is."""
        session = self._reference()
        return session is not None and is_open(session)

    def close(self) -> None:
        """Close it; a session that is closed or gone already stays so."""
        session = self._reference()
        if session is not None:
            close(session)

    def __str__(self) -> str:
        state = "" if self.is_open else ", closed"
        place = f", opened at {self.opened_at}" if self.opened_at else ""
        size = format_bytes(self.variables_bytes)
        return f"{self.kind}: {self.operations:,} operations, {size} of variables{place}{state}"


@dataclass(frozen=True, slots=True)
class Sessions(Sequence[SessionLeftOpen]):
    """The sessions that were open at the time of the call."""

    listed: tuple[SessionLeftOpen, ...] = ()

    def close(self) -> None:
        """Close all of them."""
        for session in self.listed:
            session.close()

    @overload
    def __getitem__(self, index: int) -> SessionLeftOpen: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SessionLeftOpen, ...]: ...
    def __getitem__(self, index: int | slice) -> SessionLeftOpen | tuple[SessionLeftOpen, ...]:
        return self.listed[index]

    def __len__(self) -> int:
        return len(self.listed)

    def __str__(self) -> str:
        return "\n".join(map(str, self.listed)) or "no session is open"


def sessions() -> Sessions:
    """The open `tf.compat.v1` sessions of this process, from all threads.

    The result does not keep them alive.
    """
    return Sessions(tuple(_told(session) for session in strong(SESSION) if is_open(session)))


def close(session: Any) -> None:  # noqa: ANN401 - of TensorFlow
    """Close one session. The `with` blocks around it end as usual."""
    session.close()


def is_open(session: Any) -> bool:  # noqa: ANN401
    """Whether a session may still hold something."""
    return not getattr(session, "_closed", False)


def _told(session: Any) -> SessionLeftOpen:  # noqa: ANN401
    # Imported here, for it brings the whole agent, and few programs have sessions.
    from lowwater.agent.instrumentation.lifecycles import birthplace

    operations = session.graph.get_operations()
    born = birthplace(session)
    return SessionLeftOpen(
        kind=type(session).__name__,
        operations=len(operations),
        variables_bytes=sum(_sizes(operations)),
        opened_at=f"{shown(born[0])}:{born[1]}" if born else None,
        _reference=weakref.ref(session),
    )


def _sizes(operations: Sequence[Any]) -> Iterator[int]:
    for operation in operations:
        if operation.type in _VARIABLES:
            with contextlib.suppress(Exception):  # its shape is not known
                shape = [size.size for size in operation.get_attr("shape").dim]
                yield max(0, math.prod(shape)) * operation.get_attr("dtype").size
