"""The start and the end of a run are read back, and so is the error that ended it."""

import pytest

from lowwater.model.gauges import RSS_PEAK
from lowwater.recording.fold import MOST_MOMENTS
from lowwater.recording.reader import load
from lowwater.recording.records import Columns, Ended, Failed, Passed, Sampled, UnitSeen
from lowwater.recording.writer import Writer

ENDED = Ended(9_000_000, 1, None, False, 500)


@pytest.fixture
def read_back(tmp_path):
    def read(*records):
        writer = Writer(str(tmp_path / "run.lw"))
        for record in records:
            writer.append(record)
        writer.close()
        return load(tmp_path / "run.lw")

    return read


def test_moments_follow_the_columns_and_are_no_samples(read_back):
    timeline = read_back(
        Columns(["rss_anon"]),
        Passed("start", 1_000_000, [10]),
        UnitSeen(0, "epoch", None),
        Columns(["rss_anon", "models"]),
        Sampled(0, 1, 2_000_000, [11, 1]),
        Passed("exit", 3_000_000, [12, None]),
    )

    assert [(one.name, one.elapsed_s, one.gauges) for one in timeline.moments] == [
        ("start", 1.0, {"rss_anon": 10}),
        ("exit", 3.0, {"rss_anon": 12}),
    ]
    assert len(timeline.samples) == 1


def test_no_more_moments_are_read_than_a_run_can_have(read_back):
    timeline = read_back(*[Passed("start", 0, [])] * (MOST_MOMENTS + 3))

    assert len(timeline.moments) == MOST_MOMENTS
    assert timeline.notes[-1].text == "3 more moments were left out"


@pytest.mark.parametrize(
    ("by_kernel", "by_script"), [(False, False), (False, True), (True, False), (True, True)]
)
def test_memory_ran_out_for_the_kernel_or_for_the_script(read_back, by_kernel, by_script):
    ended = Ended(9_000_000, 1, None, by_kernel, 500)

    ending = read_back(Failed("MemoryError", by_script), ended).ending

    assert ending.error == "MemoryError"
    assert ending.out_of_memory is (by_kernel or by_script)


def test_an_ending_without_an_error_has_none(read_back):
    assert read_back(ENDED).ending.error is None


def test_an_error_of_a_run_whose_end_nobody_saw_is_no_ending(read_back):
    assert read_back(Failed("ValueError: x", False)).ending is None


def test_the_program_itself_knows_its_peak_best(read_back):
    columns = Columns([RSS_PEAK])

    assert read_back(columns, Passed("exit", 8_000_000, [400]), ENDED).ending.peak_rss_bytes == 400
    assert read_back(columns, Passed("start", 1_000, [10]), ENDED).ending.peak_rss_bytes == 500
