import sys
from types import SimpleNamespace

import pytest

from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import HEAP_USED, KERNEL_CACHE, MMAP_USED
from lowwater.probes.kernel_cache import emptied_kernel_cache
from lowwater.testing import FakeProbe

CONTEXT = "tensorflow.python.eager.context"


def handed_out(mib):
    return Reading({HEAP_USED: mib << 20, MMAP_USED: 0})


@pytest.fixture
def emptied(monkeypatch):
    """Stands for TensorFlow; tests/integration/test_kernel_cache.py has the real one."""
    calls = []
    context = SimpleNamespace(_initialized=True, clear_kernel_cache=lambda: calls.append(1))
    monkeypatch.setitem(sys.modules, CONTEXT, SimpleNamespace(_context=context))
    return context, calls


def test_what_comes_back_is_what_it_held(emptied):
    malloc = FakeProbe("malloc", handed_out(30), handed_out(20))

    assert emptied_kernel_cache(malloc) == {KERNEL_CACHE: 10 << 20}


def test_what_other_threads_took_meanwhile_is_no_negative_amount(emptied):
    malloc = FakeProbe("malloc", handed_out(20), handed_out(21))

    assert emptied_kernel_cache(malloc) == {KERNEL_CACHE: 0}


def test_where_nothing_can_be_measured_nothing_is_emptied(emptied):
    assert emptied_kernel_cache(FakeProbe("malloc", NotMeasured("jemalloc"))) == {}
    assert emptied[1] == []


def test_a_tensorflow_that_has_run_nothing_is_left_alone(emptied):
    context, calls = emptied
    context._initialized = False

    assert emptied_kernel_cache(FakeProbe("malloc", handed_out(1))) == {}
    assert calls == []


def test_without_tensorflow_there_is_no_cache(monkeypatch):
    monkeypatch.delitem(sys.modules, CONTEXT, raising=False)

    assert emptied_kernel_cache(FakeProbe("malloc", handed_out(1))) == {}
