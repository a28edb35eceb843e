from dataclasses import replace

import pytest

from lowwater.model import Census, Ending, OutsideSample, Overhead
from lowwater.supervisor.session import diagnose
from lowwater.testing import a_holder, a_module, a_run, an_array, together
from replay.transforms import (
    COPIES,
    cut,
    every_second_sample,
    jittered,
    stretched,
    ten_times_fewer,
)

RUN = replace(
    together(
        a_run(epochs=12).grows(mib=4).leaves_garbage(mib=1).collects(at=[4, 8]),
        a_run(epochs=60, unit="iteration", where="train.py:7").grows(mib=0.8),
    ),
    outside=tuple(OutsideSample(float(second), 1 << 28) for second in range(61)),
    censuses=tuple(Census(1, at, 5.0 * at, 0.1, at << 22, 1000) for at in (4, 8)),
    holders=(a_holder(a_module(), an_array(".saved"), grows=".saved"),),
    overhead=Overhead(72, 0.1, 2, 0.1),
    ending=Ending(60.0, 0),
)
EPOCH, ITERATION = RUN.units


def test_cut_run_knows_nothing_of_what_came_later():
    early = cut(RUN, EPOCH, 6)

    assert [sample.ordinal for sample in early.of(EPOCH)] == [1, 2, 3, 4, 5, 6]
    assert [sample.ordinal for sample in early.of(ITERATION)] == list(range(1, 31))
    assert [one.ordinal for one in early.collections] == [4]
    assert [one.ordinal for one in early.censuses] == [4]
    assert early.holders == ()
    assert early.overhead is early.ending is None
    assert max(look.elapsed_s for look in early.outside) <= 31


def test_cut_behind_the_last_census_knows_what_it_found():
    assert cut(RUN, EPOCH, 8).holders == RUN.holders


def test_cut_run_has_no_unit_that_began_later():
    late = together(a_run(epochs=12), a_run(epochs=12, unit="predict", start_s=40))

    assert [unit.name for unit in cut(late, late.units[0], 6).units] == ["epoch"]


@pytest.mark.parametrize(("fewer", "kept"), [(every_second_sample, 7), (ten_times_fewer, 3)])
def test_thinned_run_keeps_the_first_and_the_last_of_each_unit(fewer, kept):
    copy = fewer(RUN)

    assert len(copy.of(EPOCH)) == kept
    for unit in RUN.units:
        assert copy.of(unit)[0] == RUN.of(unit)[0]
        assert copy.of(unit)[-1] == RUN.of(unit)[-1]


@pytest.mark.parametrize("moved", [stretched, jittered])
def test_moved_run_keeps_its_order(moved):
    copy = moved(RUN)

    assert order(copy) == order(RUN)
    assert copy.ending.elapsed_s == max(one.elapsed_s for one in copy.samples)


def order(timeline):
    dated = [*timeline.samples, *timeline.collections, *timeline.censuses]
    moments = sorted({one.elapsed_s for one in dated})
    return [moments.index(one.elapsed_s) for one in dated]


@pytest.mark.parametrize("copied", COPIES)
def test_leak_is_acquitted_in_no_copy(copied):
    assert diagnose(copied(RUN)).verdict.is_leak is not False
