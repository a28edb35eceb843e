"""Runs the user's program as `__main__`, as the interpreter itself would."""

import builtins
import contextlib
import os
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType, TracebackType

AddTicks = Callable[[bytes, str], CodeType]


def run_script(path: str, arguments: list[str], add_ticks: AddTicks) -> None:
    """Run a file as `python path arguments` would; its exceptions come out as they are."""
    filename = os.path.join(os.getcwd(), path)
    sys.argv = [path, *arguments]
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(filename)))
    main = _main_module(filename)
    sys.modules["__main__"] = main
    source = SourceFileLoader("__main__", filename).get_data(filename)
    # Once as it is, for its errors and warnings; then once more with ticks.
    code = compile(source, filename, "exec", dont_inherit=True)
    with contextlib.suppress(Exception):  # `add_ticks` has noted it; the program has to run
        code = add_ticks(source, filename)
    exec(code, main.__dict__)  # noqa: S102 - running the user's program is the purpose


def run_module(name: str, arguments: list[str]) -> None:
    """Run a module as `python -m name arguments` would."""
    import runpy

    sys.argv = [name, *arguments]
    if not sys.flags.safe_path:
        sys.path.insert(0, os.getcwd())
    sys.modules["__main__"] = _main_module(None)
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]  # noqa: SLF001


def _main_module(filename: str | None) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(__annotations__={}, __builtins__=builtins, __package__=None)
    if filename is not None:
        loader = SourceFileLoader("__main__", filename)
        main.__dict__.update(__file__=filename, __loader__=loader, __cached__=None)
    return main


def hide_our_frames(error: BaseException, depth: int) -> None:
    """Let the interpreter print an uncaught exception without the `depth` frames below it.

    The exception goes on through our frames, so that the interpreter ends the process as it
    always does; only what the hook is shown is cut.
    """
    theirs = error.__traceback__
    for _ in range(depth):
        theirs = theirs.tb_next if theirs else None
    hook = sys.excepthook

    def show(kind: type[BaseException], value: BaseException, _: TracebackType | None) -> None:
        sys.excepthook = hook
        sys.last_traceback = theirs
        hook(kind, value.with_traceback(theirs), theirs)

    sys.excepthook = show
