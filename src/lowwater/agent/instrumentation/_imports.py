"""Acts when a module has been imported, and loads the user's own modules with ticks."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any, NoReturn

from lowwater.model.interruption import hide_our_frames, is_programs, must_be_raised
from lowwater.model.user_code import is_installed

Action = Callable[[ModuleType], None]
AddTicks = Callable[[bytes, str], CodeType]
# Python leaves the frames of this file out of the tracebacks of failed imports; ours between
# them has to bear its name, or `import keras` would fail with another traceback than without us.
_TRIMMED = "<frozen importlib._bootstrap_external>"


def _trimmed(function: Any) -> Any:  # noqa: ANN401 - a decorator: the same function comes back
    assert isinstance(function, FunctionType)
    function.__code__ = function.__code__.replace(co_filename=_TRIMMED)
    return function


class AfterImport:
    """Calls an action for each module of interest once it has been executed."""

    def __init__(self, actions: dict[str, Action]) -> None:
        """Wait for these modules, by full name; those already there are acted on at once."""
        self._waiting = dict(actions)
        for name in [*self._waiting]:
            if name in sys.modules:
                self._waiting.pop(name)(sys.modules[name])

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Let the other finders find the module, and wait for the end of its execution."""
        if fullname not in self._waiting:
            return None
        spec = self._found_by_others(fullname, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            # Perhaps somebody only asks whether the module exists: keep waiting until it runs.
            _act_after(spec.loader, lambda module: self._act(fullname, module))
        return spec

    def _act(self, fullname: str, module: ModuleType) -> None:
        action = self._waiting.pop(fullname, None)
        try:
            if action is not None:
                action(module)
        except BaseException:
            if must_be_raised():
                raise

    def _found_by_others(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        # Only those behind us, as Python would: another one of us would ask us back.
        finders = [*sys.meta_path]
        position = finders.index(self) + 1 if self in finders else 0
        for finder in finders[position:]:
            if hasattr(finder, "find_spec"):
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    return spec
        return None


def _act_after(loader: Any, action: Action) -> None:  # noqa: ANN401 - any loader
    """Shadow the loader's method on this one instance, for one call."""
    execute = loader.exec_module

    @_trimmed
    def exec_module(module: ModuleType) -> None:
        # There may be two of us around one loader: the outer one has removed both.
        vars(loader).pop("exec_module", None)
        execute(module)
        action(module)

    loader.exec_module = exec_module


def _load_with_ticks(loader: SourceFileLoader, add_ticks: AddTicks) -> None:
    """Shadow two methods on this one instance; to the program it stays an ordinary loader."""
    compile_plainly = loader.source_to_code

    def path_stats(_path: str) -> NoReturn:
        # Without these there is no cache: cached code has no ticks, and ours must not be cached.
        raise OSError

    @_trimmed
    def source_to_code(data: bytes, path: str, **options: Any) -> CodeType:  # noqa: ANN401
        # Once as ever, for its errors and warnings, and then once more with ticks.
        plain: CodeType = compile_plainly(data, path, **options)
        try:
            return add_ticks(data, path)
        except BaseException as error:
            if is_programs(error):
                hide_our_frames(error)
                raise
            return plain  # the module has to load; `add_ticks` has noted it

    vars(loader).update(path_stats=path_stats, source_to_code=source_to_code)


class UserModules:
    """Finds the modules under the script's folder, before Python's own finder does."""

    def __init__(self, root: str, add_ticks: AddTicks) -> None:
        """Everything below `root` is the user's, but for installed packages."""
        self._root = os.path.join(os.path.realpath(root), "")
        self._add_ticks = add_ticks
        self._known: dict[str, bool] = {}

    @_trimmed
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The ordinary spec, whose loader will add ticks, for a source file of the user's."""
        try:
            return self._find_spec(fullname, path, target)
        except BaseException:
            if must_be_raised():
                raise
        return None

    def _find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        # A framework imports thousands of modules: those cannot be here, and must not be slowed.
        theirs = [folder for folder in (sys.path if path is None else path) if self._holds(folder)]
        if not theirs or PathFinder.find_spec(fullname, theirs, target) is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or not spec.origin:
            return None
        if not self.is_users(spec.origin):
            return None
        _load_with_ticks(spec.loader, self._add_ticks)
        return spec

    def _holds(self, folder: str) -> bool:
        """Whether modules of the user's may lie in this entry of a search path."""
        known = self._known.get(folder)
        if known is None:
            real = os.path.join(os.path.realpath(folder or os.getcwd()), "")
            known = real.startswith(self._root) and not is_installed(real)
            self._known[folder] = known
        return known

    def is_users(self, filename: str) -> bool:
        """Whether this file belongs to the program and not to an installed package."""
        real = os.path.realpath(filename)
        return real.startswith(self._root) and not is_installed(real)


def before_path_finder(finder: UserModules) -> None:
    """Take a place right in front of Python's own finder, behind anybody's special ones."""
    places = [index for index, other in enumerate(sys.meta_path) if other is PathFinder]
    sys.meta_path.insert(places[0] if places else len(sys.meta_path), finder)
