"""What a fresh process must know of the caller: its folder, its path, its environment."""

import linecache
import logging
import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The caller's, at the moment of the call."""

    folder: str | None
    path: list[str]
    arguments: list[str]
    variables: dict[str, str]
    log_levels: dict[str, int]
    # Cells of a notebook are in no file: AutoGraph and tracebacks find their source here.
    sources: dict[str, list[str]]
    # The names of the loggers that have handlers; the root's is the empty name.
    log_handlers: tuple[str, ...] = ()

    @classmethod
    def here(cls) -> "Surroundings":
        """Those of this process."""
        return cls(
            folder=_folder(),
            path=[*sys.path],
            arguments=[*sys.argv],
            variables=dict(os.environ),
            log_levels=_log_levels(),
            sources=dict(_sources_in_no_file()),
            log_handlers=tuple(name for name, one in _loggers().items() if one.handlers),
        )

    def apply(self) -> None:
        """Make this process see what the caller saw."""
        # One may stand in a folder that one may not enter: the server stands there already.
        if self.folder is not None and self.folder != _folder():
            os.chdir(self.folder)
        sys.path[:] = self.path
        sys.argv[:] = self.arguments
        for name in {*os.environ} - {*self.variables}:
            del os.environ[name]
        os.environ.update(self.variables)
        for name, lines in self.sources.items():
            linecache.cache[name] = (sum(map(len, lines)), None, lines, name)


def _folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was removed under the program
        return None


def _loggers() -> dict[str, logging.Logger]:
    """By name; the root's is the empty name."""
    known = [*logging.Logger.manager.loggerDict.items()]
    named = {name: one for name, one in known if isinstance(one, logging.Logger)}
    return {"": logging.getLogger(), **named}


def _log_levels() -> dict[str, int]:
    """The levels that were set, and the root's."""
    return {name: one.level for name, one in _loggers().items() if one.level or not name}


def _sources_in_no_file() -> list[tuple[str, list[str]]]:
    kept = ((name, entry) for name, entry in [*linecache.cache.items()] if len(entry) > 1)
    return [
        (name, entry[2]) for name, entry in kept if entry[1] is None and not os.path.exists(name)
    ]
