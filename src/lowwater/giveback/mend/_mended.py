"""Applies repairs once their libraries are there, says what became of them, and undoes them."""

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType, TracebackType
from typing import Self

from lowwater.agent.instrumentation._imports import AfterImport
from lowwater.giveback.mend._repair import NotAsExpected, Repair, Undo
from lowwater.model import Mending, MendState
from lowwater.model.interruption import let_through

# Held while anything here changes. A repair may run inside an import, so it imports nothing.
_LOCK = threading.RLock()
_ACTIVE = (MendState.APPLIED, MendState.WAITING)


class Work:
    """One repair in this process, from waiting for its library to being undone."""

    def __init__(self, repair: Repair) -> None:
        """Nothing is done until `start`."""
        leak = repair.leak
        because = f"{repair.library} is not imported yet"
        self.told = Mending(leak.code, leak.name, repair.library, MendState.WAITING, because)
        self.listeners: list[Callable[[], None]] = []
        self._repair = repair
        self._finder: AfterImport | None = None
        self._undo: Undo | None = None

    @property
    def is_active(self) -> bool:
        """Whether it is applied, or will be."""
        return self.told.state in _ACTIVE

    def start(self) -> None:
        """Apply the repair, now or when the program imports the library."""
        finder = AfterImport({self._repair.leak.library: self._act})
        if self.told.state is MendState.WAITING:
            self._finder = finder
            sys.meta_path.insert(0, finder)

    def undo(self) -> None:
        """Give everything back, or stop waiting; a second time does nothing."""
        with _LOCK:
            if not self.is_active:
                return
            if self._finder in sys.meta_path:
                sys.meta_path.remove(self._finder)
            if self._undo is not None:
                self._undo()
            self._say(MendState.UNDONE, self.told.because)

    def _act(self, library: ModuleType) -> None:
        with _LOCK:
            # Undone while the library was being imported.
            if self.told.state is MendState.WAITING:
                self._say(*self._apply(library))

    def _apply(self, library: ModuleType) -> tuple[MendState, str]:
        """Repair, or say why not; whatever goes wrong, the program goes on as without us."""
        repair, version = self._repair, getattr(library, "__version__", None)
        release = f"{repair.library} {version}"
        if version is None:
            return (
                MendState.REFUSED,
                f"{repair.library} is still being imported; call mend() again later",
            )
        if not repair.is_known_right_for(str(version)):
            return MendState.REFUSED, f"{release}; the repair was tested on {repair.known} only"
        try:
            repair.check()
            self._undo = repair.apply()
        except NotAsExpected as error:
            return MendState.REFUSED, f"{release} does not look as expected: {error}"
        except Exception as error:  # noqa: BLE001 - it may run inside the program's own import
            let_through(error)
            reason = f"{type(error).__name__}: {error}"
            return MendState.REFUSED, f"{release} does not look as expected: {reason}"
        return MendState.APPLIED, f"{repair.part}, {release}" if repair.part else release

    def _say(self, state: MendState, because: str) -> None:
        self.told = replace(self.told, state=state, because=because)
        for listener in self.listeners:
            listener()


class Repairs:
    """What `mend()` has done: print it to read it, `undo()` it, or use it in a `with` block."""

    def __init__(self, works: Sequence[Work], own: Sequence[Work]) -> None:
        """All repairs that are looked after, and those of them that this very call has begun."""
        self._works = works
        self._own = own

    @property
    def mendings(self) -> tuple[Mending, ...]:
        """What became of each repair, up to now."""
        return tuple(work.told for work in self._works)

    @property
    def applied(self) -> tuple[Mending, ...]:
        """The repairs in effect."""
        return self._in(MendState.APPLIED)

    @property
    def waiting(self) -> tuple[Mending, ...]:
        """The repairs whose library is not imported yet."""
        return self._in(MendState.WAITING)

    @property
    def refused(self) -> tuple[Mending, ...]:
        """The repairs that were not made, with the reason."""
        return self._in(MendState.REFUSED)

    def undo(self) -> None:
        """Give back all that this call of `mend()` has changed; what an earlier one did stays."""
        for work in reversed(self._own):
            work.undo()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call the listener whenever something becomes of a repair."""
        for work in self._works:
            work.listeners.append(listener)

    def _in(self, state: MendState) -> tuple[Mending, ...]:
        return tuple(mending for mending in self.mendings if mending.state is state)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None
    ) -> None:
        self.undo()

    def __str__(self) -> str:
        return "\n".join(str(mending) for mending in self.mendings)

    def __repr__(self) -> str:
        return f"<Mended: {', '.join(f'{told.code} {told.state}' for told in self.mendings)}>"


_works: dict[str, Work] = {}


def start_mending(repairs: Sequence[Repair]) -> Repairs:
    """Begin with those repairs that are not in effect already, and not waiting."""
    with _LOCK:
        own = []
        for repair in repairs:
            known = _works.get(repair.leak.code)
            if known is None or not known.is_active:
                work = _works[repair.leak.code] = Work(repair)
                work.start()
                own.append(work)
        return Repairs([_works[repair.leak.code] for repair in repairs], own)
