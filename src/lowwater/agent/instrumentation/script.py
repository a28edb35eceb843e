"""Runs the user's program as `__main__`, as the interpreter itself would."""

import builtins
import os
import runpy
import sys
from collections.abc import Callable
from importlib.machinery import BuiltinImporter, SourceFileLoader, SourcelessFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType, TracebackType
from typing import Any

from lowwater.agent.instrumentation._imports import AddTicks
from lowwater.model.assignment import STDIN
from lowwater.model.interruption import quietly


def _nothing() -> None:
    """Nobody waits for it."""


def run_script(
    path: str, arguments: list[str], add_ticks: AddTicks, ready: Callable[[], None] = _nothing
) -> None:
    """Run a file as `python path arguments` would; its exceptions come out as they are.

    `ready` is called when the path is the program's own.
    """
    sys.argv = [path, *arguments]
    if path == STDIN:
        _put_first_on_path("")
        ready()
        _run_stdin(add_ticks)
    elif _is_importable(path):
        sys.path.insert(0, os.getcwd() if path == os.curdir else os.path.join(os.getcwd(), path))
        ready()
        sys.modules["__main__"] = _main_module(None, BuiltinImporter)
        runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]  # noqa: SLF001
    else:
        filename = os.path.join(os.getcwd(), path)
        _put_first_on_path(_folder_of(filename))
        ready()
        _run_file(filename, add_ticks)


def _run_file(filename: str, add_ticks: AddTicks) -> None:
    if _is_compiled(filename):
        loader: Any = SourcelessFileLoader("__main__", filename)
        main, code = _main_module(filename, loader), loader.get_code("__main__")
    else:
        loader = SourceFileLoader("__main__", filename)
        main = _main_module(filename, loader)
        code = _compiled(loader.get_data(filename), filename, add_ticks)
    sys.modules["__main__"] = main
    exec(code, main.__dict__)  # noqa: S102 - running the user's program is the purpose


def _run_stdin(add_ticks: AddTicks) -> None:
    name = "<stdin>"
    main = _main_module(name, BuiltinImporter)
    sys.modules["__main__"] = main
    source = sys.stdin.buffer.read() if sys.stdin is not None else b""
    exec(_compiled(source, name, add_ticks), main.__dict__)  # noqa: S102 - as above


def _compiled(source: bytes, filename: str, add_ticks: AddTicks) -> CodeType:
    """Once as it is, for its errors and warnings; then once more with ticks."""
    code: CodeType = compile(source, filename, "exec", dont_inherit=True)
    with quietly():  # `add_ticks` has noted it; the program has to run
        return add_ticks(source, filename)
    return code


def _folder_of(filename: str) -> str:
    """Behind all links; but what is read from a pipe lies nowhere, and has one link only."""
    real = os.path.realpath(filename)
    if not os.path.exists(real) and os.path.islink(filename):
        real = os.path.join(os.path.dirname(filename), os.readlink(filename))
    return os.path.dirname(real)


def _is_importable(path: str) -> bool:
    """Whether Python looks for a `__main__` in it: a folder or a zip archive."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def _is_compiled(filename: str) -> bool:
    """By its name or, as Python itself does, by the first two bytes."""
    if filename.endswith(".pyc"):
        return True
    if not os.path.isfile(filename):  # what is read from a pipe is gone
        return False
    with open(filename, "rb") as file:
        return file.read(2) == MAGIC_NUMBER[:2]


def run_module(name: str, arguments: list[str], ready: Callable[[], None] = _nothing) -> None:
    """Run a module as `python -m name arguments` would."""
    sys.argv = [name, *arguments]
    _put_first_on_path(os.getcwd())
    ready()
    sys.modules["__main__"] = _main_module(None, BuiltinImporter)
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]  # noqa: SLF001


def _put_first_on_path(folder: str) -> None:
    """Where modules of the program are looked for first, unless the user does not want it."""
    if not sys.flags.safe_path:
        sys.path.insert(0, folder)


def _main_module(filename: str | None, loader: Any) -> ModuleType:  # noqa: ANN401 - any loader
    main = ModuleType("__main__")
    main.__dict__.update(__annotations__={}, __builtins__=builtins, __package__=None)
    main.__dict__.update(__loader__=loader)
    if filename is not None:
        main.__dict__.update(__file__=filename, __cached__=None)
    return main


def as_it_is(source: bytes, filename: str) -> CodeType:
    """The code without ticks."""
    code: CodeType = compile(source, filename, "exec", dont_inherit=True)
    return code


def print_without_our_frames(error: BaseException, caller: str) -> None:
    """Let the interpreter print an uncaught exception without our frames, and those of our caller.

    The exception goes on through our frames, so that the interpreter ends the process as it
    always does; only what the hook is shown is cut.
    """
    theirs = error.__traceback__
    while theirs is not None and theirs.tb_frame.f_code.co_filename in (caller, __file__):
        theirs = theirs.tb_next
    hook = sys.excepthook

    def show(kind: type[BaseException], value: BaseException, _: TracebackType | None) -> None:
        sys.excepthook = hook
        sys.last_traceback = theirs
        hook(kind, value.with_traceback(theirs), theirs)

    sys.excepthook = show
