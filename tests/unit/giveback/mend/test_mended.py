"""When a repair is made, when it waits, when it is refused, and how it is taken back."""

import sys
import threading
import types
from importlib.machinery import ModuleSpec

import pytest

from lowwater.causes.upstream import KnownLeak
from lowwater.giveback.mend import _mended
from lowwater.giveback.mend._mended import start_mending
from lowwater.giveback.mend._repair import NotAsExpected, Repair, expect

LIBRARY = "a_library_that_leaks"
LEAK = KnownLeak(
    code="LW999",
    name="test-leak",
    library=LIBRARY,
    affects=lambda version: True,
    affected="all",
    issue=None,
    what="It leaks.",
    costs="Much.",
    advice="None.",
)


class FakeRepair(Repair):
    """Counts how often it is made and taken back."""

    leak = LEAK
    library = "Library"
    first, last = (1, 2), (1, 5)

    def __init__(self):
        self.applied = 0
        self.undone = 0

    def check(self):
        expect(hasattr(sys.modules[LIBRARY], "registry"), "there is no registry")

    def apply(self):
        if sys.modules[LIBRARY].registry is None:
            msg = "no registry"
            raise ValueError(msg)
        self.applied += 1
        return self._undo

    def _undo(self):
        self.undone += 1


def a_library(version="1.5.3", **parts):
    library = types.ModuleType(LIBRARY)
    vars(library).update(__version__=version, registry={}, **parts)
    return library


class Loader:
    """Imports what `a_library` made; `parts` may be given only while it is executed."""

    def __init__(self, library):
        self._library = library

    def find_spec(self, name, path, target=None):
        return ModuleSpec(name, self) if name == LIBRARY else None

    def create_module(self, spec):
        return types.ModuleType(LIBRARY)

    def exec_module(self, module):
        vars(module).update(vars(self._library))


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    """Each test has a process of its own, as far as mending goes."""
    monkeypatch.setattr(_mended, "_works", {})
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    sys.modules.pop(LIBRARY, None)
    yield
    sys.modules.pop(LIBRARY, None)


@pytest.fixture
def repair():
    return FakeRepair()


@pytest.fixture
def imported(monkeypatch):
    library = a_library()
    monkeypatch.setitem(sys.modules, LIBRARY, library)
    return library


def importable(library):
    sys.meta_path.append(Loader(library))


def test_library_that_is_there_is_mended_at_once(repair, imported):
    finders = [*sys.meta_path]
    mended = start_mending([repair])

    assert str(mended) == "Mended: LW999 test leak (Library 1.5.3)"
    assert [told.code for told in mended.applied] == ["LW999"]
    assert not mended.waiting
    assert not mended.refused
    assert sys.meta_path == finders


def test_library_that_comes_later_is_mended_when_it_comes(repair):
    importable(a_library())
    mended = start_mending([repair])

    assert str(mended) == "Waiting: LW999 test leak (Library is not imported yet)"
    assert LIBRARY not in sys.modules
    __import__(LIBRARY)

    assert str(mended) == "Mended: LW999 test leak (Library 1.5.3)"
    assert repair.applied == 1


def test_two_repairs_wait_for_the_same_library(repair):
    class Other(FakeRepair):
        leak = KnownLeak("LW998", *(getattr(LEAK, name) for name in KnownLeak.__slots__[1:]))
        part = "a part of it"

    importable(a_library())
    other = Other()
    mended = start_mending([repair, other])
    __import__(LIBRARY)

    assert (repair.applied, other.applied) == (1, 1)
    assert str(mended).splitlines()[1] == "Mended: LW998 test leak (a part of it, Library 1.5.3)"


@pytest.mark.parametrize("version", ["1.1.9", "1.6.0", "2.0", "0.9", "unknown", ""])
def test_release_that_was_not_tried_is_left_alone(repair, imported, version):
    imported.__version__ = version
    mended = start_mending([repair])

    assert str(mended) == (
        f"Not mended: LW999 test leak (Library {version}; the repair was tested on 1.2 to 1.5 only)"
    )
    assert repair.applied == 0


@pytest.mark.parametrize("version", ["1.2", "1.2.0", "1.5.9", "1.4.0rc1", "1.3.0.dev20260101"])
def test_release_that_was_tried_is_mended(repair, imported, version):
    imported.__version__ = version

    assert start_mending([repair]).applied


def test_library_that_looks_otherwise_is_left_alone(repair, imported):
    del imported.registry
    mended = start_mending([repair])

    assert str(mended) == (
        "Not mended: LW999 test leak "
        "(Library 1.5.3 does not look as expected: there is no registry)"
    )
    assert repair.applied == 0


def test_repair_that_fails_does_not_fail_the_import(repair):
    library = a_library()
    library.registry = None
    importable(library)
    mended = start_mending([repair])
    __import__(LIBRARY)

    assert str(mended) == (
        "Not mended: LW999 test leak "
        "(Library 1.5.3 does not look as expected: ValueError: no registry)"
    )


def test_library_that_is_half_imported_is_left_alone(repair, imported):
    del imported.__version__

    assert str(start_mending([repair])) == (
        "Not mended: LW999 test leak (Library is still being imported; call mend() again later)"
    )


def test_refused_repair_is_tried_again(repair, imported):
    registry = imported.__dict__.pop("registry")
    assert start_mending([repair]).refused
    imported.registry = registry

    assert start_mending([repair]).applied


def test_second_call_does_nothing_new(repair, imported):
    first, second = start_mending([repair]), start_mending([repair])

    assert repair.applied == 1
    assert str(first) == str(second)
    second.undo()
    assert repair.undone == 0
    assert first.applied
    first.undo()
    assert repair.undone == 1
    assert second.mendings == first.mendings


def test_second_call_waits_with_the_first(repair):
    importable(a_library())
    first, second = start_mending([repair]), start_mending([repair])
    __import__(LIBRARY)

    assert repair.applied == 1
    assert first.applied == second.applied != ()


def test_undone_twice_is_undone_once(repair, imported):
    mended = start_mending([repair])
    mended.undo()
    mended.undo()

    assert repair.undone == 1
    assert str(mended) == "Undone: LW999 test leak (Library 1.5.3)"
    assert not mended.applied


def test_mended_again_after_it_was_undone(repair, imported):
    start_mending([repair]).undo()

    assert start_mending([repair]).applied
    assert (repair.applied, repair.undone) == (2, 1)


def test_undone_while_it_waits_is_never_made(repair):
    importable(a_library())
    finders = [*sys.meta_path]
    mended = start_mending([repair])
    assert sys.meta_path != finders
    mended.undo()
    __import__(LIBRARY)

    assert sys.meta_path == finders
    assert (repair.applied, repair.undone) == (0, 0)


def test_undone_in_the_middle_of_the_import_is_never_made(repair):
    class UndoneMeanwhile(Loader):
        def exec_module(self, module):
            super().exec_module(module)
            mended.undo()

    sys.meta_path.append(UndoneMeanwhile(a_library()))
    mended = start_mending([repair])
    __import__(LIBRARY)

    assert repair.applied == 0
    assert [told.state for told in mended.mendings] == ["undone"]


def test_block_mends_as_long_as_it_lasts(repair, imported):
    def block():
        with start_mending([repair]) as mended:
            with start_mending([repair]):
                pass
            assert mended.applied
            raise RuntimeError

    with pytest.raises(RuntimeError):
        block()

    assert (repair.applied, repair.undone) == (1, 1)


def test_listener_hears_of_every_change(repair):
    importable(a_library())
    mended = start_mending([repair])
    heard = []
    mended.on_change(lambda: heard.append(str(mended).partition(":")[0]))
    __import__(LIBRARY)
    mended.undo()

    assert heard == ["Mended", "Undone"]


def test_many_threads_mend_once(repair, imported):
    start = threading.Barrier(8)
    all_mended = []

    def work():
        start.wait()
        all_mended.append(start_mending([repair]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert repair.applied == 1
    for mended in all_mended:
        mended.undo()
    assert repair.undone == 1


def test_expectation_that_is_not_met_says_which():
    expect([1], "fine")
    with pytest.raises(NotAsExpected, match="no items"):
        expect([], "no items")
