"""Import hooks act after the import, and are not seen in its failures."""

import importlib
import importlib.util
import sys
import traceback

import pytest

from lowwater.agent.instrumentation._imports import AfterImport, UserModules, before_path_finder


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def importing(name):
    importlib.invalidate_caches()
    return importlib.import_module(name)


def test_the_action_comes_once_after_the_module_was_executed(package):
    (package / "frame_work.py").write_text("ready = True\n")
    seen = []
    sys.meta_path.insert(0, AfterImport({"frame_work": lambda m: seen.append(m.ready)}))
    module = importing("frame_work")
    importing("frame_work")

    assert seen == [True]
    assert "exec_module" not in vars(module.__spec__.loader)


def test_a_module_that_is_already_there_is_acted_on_at_once(package):
    seen = []
    AfterImport({"json": seen.append, "traceback": seen.append})

    assert {module.__name__ for module in seen} == {"json", "traceback"}


def test_a_module_that_comes_into_being_later_is_still_acted_on(package):
    seen = []
    sys.meta_path.insert(0, AfterImport({"late_module": seen.append}))
    with pytest.raises(ModuleNotFoundError):
        importing("late_module")
    (package / "late_module.py").write_text("")
    importing("late_module")

    assert len(seen) == 1


def test_a_module_that_was_only_looked_for_is_still_acted_on(package):
    (package / "frame_work.py").write_text("")
    seen = []
    sys.meta_path.insert(0, AfterImport({"frame_work": seen.append}))
    importlib.invalidate_caches()
    assert importlib.util.find_spec("frame_work") is not None
    assert seen == []
    importing("frame_work")

    assert len(seen) == 1


@pytest.mark.parametrize("content", ["1 / 0\n", "import no_such_thing\n", "def broken(:\n"])
def test_a_failing_import_has_the_same_traceback(package, content):
    (package / "broken_one.py").write_text(content)

    def failure():
        sys.modules.pop("broken_one", None)
        importlib.invalidate_caches()
        try:
            import broken_one  # noqa: F401
        except (ZeroDivisionError, ImportError, SyntaxError) as error:
            return traceback.format_exception(error)

    plain = failure()
    sys.meta_path.insert(0, AfterImport({"broken_one": lambda _: None}))
    hooked = failure()
    before_path_finder(UserModules(str(package), lambda data, path: compile(data, path, "exec")))
    ticking = failure()

    assert hooked == plain
    assert ticking == plain


def test_the_users_modules_are_compiled_by_us_and_not_cached(package):
    (package / "mine.py").write_text("x = 1\n")
    before_path_finder(UserModules(str(package), lambda data, path: compile("x = 2", path, "exec")))

    assert importing("mine").x == 2
    assert not (package / "__pycache__").exists()


def test_a_module_that_cannot_get_ticks_loads_as_it_is(package):
    (package / "mine.py").write_text("x = 1\n")

    def fail(data, path):
        raise RuntimeError

    before_path_finder(UserModules(str(package), fail))

    assert importing("mine").x == 1


def test_installed_packages_are_left_alone(package):
    installed = package / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "theirs.py").write_text("x = 1\n")
    sys.path.insert(0, str(installed))
    before_path_finder(UserModules(str(package), lambda data, path: compile("x = 2", path, "exec")))

    assert importing("theirs").x == 1
