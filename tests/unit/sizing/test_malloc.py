"""The highest that malloc has handed out while a block runs."""

import pytest

from lowwater.model import NotMeasured
from lowwater.sizing.backends import _malloc
from lowwater.sizing.backends._malloc import MallocWatch


@pytest.fixture
def levels(monkeypatch):
    """FAKE: a malloc whose levels are given."""

    def of(*given):
        waiting = list(given)

        class Info:
            hblkhd = 0

            @property
            def uordblks(self):
                return waiting.pop(0) if len(waiting) > 1 else waiting[0]

        monkeypatch.setattr(_malloc, "find_mallinfo2", lambda: Info)
        return waiting

    return of


def test_block_that_comes_and_goes_is_seen():
    watch = MallocWatch()

    with watch:
        held = bytearray(30_000_000)
        while watch.highest_bytes - watch.rest_bytes < 30_000_000:
            pass
        del held

    assert watch.highest_bytes - watch.rest_bytes < 40_000_000


def test_it_waits_until_the_last_step_is_freed(levels):
    waiting = levels(300_000_000, 200_000_000, 100_000_000, 100_000_000)

    MallocWatch().settle()

    assert waiting == [100_000_000]


def test_no_thread_is_left_where_the_step_fails():
    watch = MallocWatch()

    with pytest.raises(ValueError, match="step"), watch:
        raise ValueError("step")

    assert watch._thread is not None
    assert not watch._thread.is_alive()


def test_other_malloc_is_not_measured(monkeypatch):
    why = NotMeasured("malloc comes from libjemalloc.so.2")
    monkeypatch.setattr(_malloc, "find_mallinfo2", lambda: why)
    watch = MallocWatch()

    with watch:
        held = bytearray(10_000_000)

    assert held is not None
    assert watch.highest_bytes == watch.rest_bytes == 0
    assert "jemalloc" in watch.why_not
