"""The ledger adds up, says what it estimates, and leaves out what was not measured."""

import pytest

from lowwater.model import Timeline
from lowwater.model.gauges import HEAP_FREE, HEAP_USED, MMAP_USED, POOL_IN_USE, POOL_SIZE
from lowwater.testing import a_run, together
from lowwater.verdict import book, judge

MIB = 1 << 20


def ledger_of(run):
    timeline = run.timeline()
    return book(timeline, timeline.units[0])


def names(ledger, layer):
    return [row.name for row in ledger.rows if row.layer == layer]


def row(ledger, name):
    return next(row for row in ledger.rows if row.name == name)


A_POOL = a_run(12).holds(MMAP_USED, mib=300).holds(POOL_SIZE, mib=200).holds(POOL_IN_USE, mib=10)


@pytest.mark.parametrize("run", [a_run(12).grows(mib=4).noise(mib=3, seed=1), A_POOL])
def test_allocators_add_up_to_the_anonymous_memory(run):
    ledger = ledger_of(run)

    allocators = [row.series for row in ledger.rows if row.layer == "allocator"]

    assert (
        tuple(map(sum, zip(*allocators, strict=True))) == row(ledger, "resident, anonymous").series
    )


def test_layers_have_their_rows():
    ledger = ledger_of(a_run(12))

    assert names(ledger, "system") == [
        "resident, in all",
        "resident, anonymous",
        "resident, mapped files",
        "resident, shared",
    ]
    assert names(ledger, "allocator") == [
        "malloc, in use",
        "malloc, free but kept",
        "Python small objects",
        "remainder",
    ]
    assert names(ledger, "in use") == ["in use"]


def test_what_is_free_in_the_pool_is_booked_once():
    ledger = ledger_of(A_POOL)

    assert row(ledger, "TensorFlow pool, free for reuse").last_bytes == 190 * MIB
    assert row(ledger, "malloc, in use").last_bytes == (100 + 300 - 190) * MIB


def test_the_number_that_is_judged_is_in_the_ledger():
    run = a_run(12).grows(mib=4)
    verdict, _ = judge(run.timeline())

    in_use = row(ledger_of(run), "in use")

    assert in_use.last_bytes - in_use.first_bytes == 11 * verdict.growth_bytes_per_unit


def test_each_device_has_its_row():
    ledger = ledger_of(a_run(12).holds("GPU:0 in use", mib=7))

    assert row(ledger, "GPU:0 in use").last_bytes == 7 * MIB


def test_estimates_say_so():
    ledger = ledger_of(A_POOL)

    estimated = {row.name: row.remark for row in ledger.rows if row.is_estimate}

    assert estimated == {
        "TensorFlow pool, free for reuse": (
            "upper bound; part of the pool may never have been touched"
        ),
        "Python small objects": "estimated: 96 bytes per block",
    }


def test_what_is_not_resident_is_told_apart_and_why():
    ledger = ledger_of(a_run(12).holds("rss_anon", mib=-100))
    absent = row(ledger, "allocated, not in memory")

    assert row(ledger, "remainder").last_bytes == 0
    assert (absent.layer, absent.last_bytes) == ("not resident", 80 * MIB)
    assert "not written to yet" in absent.remark


def test_where_all_is_resident_nothing_is_said_of_it():
    assert not names(ledger_of(a_run(12)), "not resident")


def test_a_foreign_malloc_has_no_allocator_rows():
    ledger = ledger_of(a_run(12).lacks(HEAP_USED, HEAP_FREE, MMAP_USED))

    assert names(ledger, "allocator") == []
    assert names(ledger, "system")[1] == "resident, anonymous"


def test_a_long_run_is_thinned_for_a_sparkline_and_keeps_its_ends():
    used = row(ledger_of(a_run(300).grows(mib=1)), "malloc, in use")

    assert len(used.series) == 60
    assert (used.first_bytes, used.last_bytes) == (151 * MIB, 450 * MIB)


def test_counts_are_told_from_first_to_last():
    ledger = ledger_of(a_run(12).grows("functions", mib=24 / MIB))

    assert ledger.counts == {"functions": (24, 288)}


def test_without_a_unit_all_samples_are_booked():
    timeline = together(a_run(5), a_run(7, unit="predict"))

    assert len(row(book(timeline, None), "in use").series) == 12


def test_what_could_not_be_measured_is_told():
    ledger = book(Timeline(unmeasured={"nvml": "NVML is not installed"}), None)

    assert ledger.rows == ()
    assert ledger.unmeasured == {"nvml": "NVML is not installed"}
