"""Notes what the program opens for writing, makes, moves and removes, by Python's audit events.

Runs in the watched process. Whatever the hook raised would be raised by the program's own call, so
it does next to nothing: it keeps text, calls no object of the program, and reads no file. It can
never be taken back, and is silent after the end.
"""

import atexit
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from lowwater.diagnose.writes import MOST_NAMED, named
from lowwater.model.experiment import Fact

# More different files than anybody could look at.
_MOST_SEEN: Final = 10_000
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_FLAGS: Final = 2
_NO_FILES: Final = ("/dev/", "/proc/", "/sys/")
# Event -> where its paths are, each with the descriptor of the folder that it is in, if any.
_EVENTS: Final[dict[str, tuple[tuple[int, int], ...]]] = {
    "open": ((0, -1),),
    "os.truncate": ((0, -1),),
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "shutil.rmtree": ((0, 1),),
    "sqlite3.connect": ((0, -1),),
    "tempfile.mkstemp": ((0, -1),),
    "tempfile.mkdtemp": ((0, -1),),
}
_TEMPORARY: Final = frozenset({"tempfile.mkstemp", "tempfile.mkdtemp"})


class WriteWatch:
    """Of one run; `learn` is told once, at the end."""

    def __init__(self, learn: Callable[[dict[str, Any]], None]) -> None:
        """Nothing is watched yet."""
        self._learn = learn
        self._folder = os.getcwd()
        self._began_s = time.time()
        self._is_on = True
        # Path -> whether the program made it itself, as far as is known.
        self._seen: dict[str, bool] = {}
        self._databases: set[str] = set()
        self._temporary: set[str] = set()
        self._has_end = False

    def install(self) -> None:
        """From now on; a forked child is not watched, for it has no recording."""
        os.register_at_fork(after_in_child=self.stop)
        sys.addaudithook(self.noted)

    def stop(self) -> None:
        """The hook stays, and does nothing."""
        self._is_on = False

    def noted(self, event: str, arguments: tuple[object, ...]) -> None:
        """Keep the paths of an event that changes something; any code may raise one."""
        places = _EVENTS.get(event)
        if places is None or not self._is_on or len(self._seen) >= _MOST_SEEN:
            return
        if event == "open" and not _is_for_writing(arguments):
            return
        for at, beside in places:
            if len(arguments) > max(at, beside) and _is_without_folder(arguments, beside):
                self._note(event, arguments, _text(arguments[at]))

    def _note(self, event: str, arguments: tuple[object, ...], path: str) -> None:
        if not path or path.startswith(_NO_FILES) or "__pycache__" in path:
            return
        if path[0] != "/":
            try:
                path = f"{os.getcwd()}/{path}"
            except FileNotFoundError:  # it was removed, and what is in it is gone
                return
        if event in _TEMPORARY:
            self._temporary.add(path)
        elif event == "sqlite3.connect":
            self._databases.add(path)
        else:
            self._seen.setdefault(path, _makes(event, arguments))
        if not self._has_end:
            self._has_end = True
            # Registered late, it runs early: before the recording is closed.
            atexit.register(self.tell)

    def tell(self) -> None:
        """Record what is left of it, named as seen from the folder that the program began in."""
        self.stop()
        try:
            names = [*dict.fromkeys(_shown(path, self._folder) for path in self._written())]
            if names:
                self._learn(named(Fact.OPENED, names[:MOST_NAMED]))
        except Exception:  # noqa: BLE001, S110 - the folder is compared as well
            pass

    def _written(self) -> Iterator[str]:
        temporary = {os.path.normpath(path) for path in self._temporary}
        changed = [path for path, is_made in self._seen.items() if _stays(path, is_made=is_made)]
        changed += [path for path in self._databases if _is_younger(path, self._began_s)]
        for path in map(os.path.normpath, changed):
            if not any(path == one or path.startswith(f"{one}/") for one in temporary):
                yield path


def _is_for_writing(arguments: tuple[object, ...]) -> bool:
    flags = arguments[_FLAGS] if len(arguments) > _FLAGS else None
    if type(flags) is not int:
        return False
    return bool(flags & _WRITING) and flags & os.O_TMPFILE != os.O_TMPFILE


def _is_without_folder(arguments: tuple[object, ...], beside: int) -> bool:
    """Names in an open folder are not looked up: the folder was named before, or is compared."""
    folder = arguments[beside] if beside >= 0 else None
    return folder is None or (type(folder) is int and folder == -1)


def _text(given: object) -> str:
    """A path as plain text; of a class that pretends to be text, not even its class is asked."""
    kind = type(given)
    if issubclass(kind, str):
        return str.__str__(given)
    if issubclass(kind, bytes):
        return bytes.decode(given, "utf-8", "surrogateescape")  # type: ignore[arg-type]
    return ""


def _makes(event: str, arguments: tuple[object, ...]) -> bool:
    if event != "open":
        return event == "os.mkdir"
    flags = arguments[_FLAGS]
    return type(flags) is int and bool(flags & os.O_EXCL)


def _stays(path: str, *, is_made: bool) -> bool:
    """Not what the program has taken away again, and not folders: their files are named."""
    return not os.path.isdir(path) and (not is_made or os.path.lexists(path))


def _is_younger(path: str, began_s: float) -> bool:
    """A data base may be opened only to be read."""
    try:
        return os.stat(path).st_mtime >= began_s
    except (OSError, ValueError):
        return False


def _shown(path: str, folder: str) -> str:
    return path.removeprefix(os.path.join(folder, ""))
