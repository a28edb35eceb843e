"""All specimens, quiet and under load, held to their first lines without running them.

`make record` makes the recordings; benchmarks/prefixes.py prints the same measure as a table.
"""

import os
import pickle

import pytest

from lowwater.report.json import to_dict
from lowwater.supervisor.session import diagnose
from replay.first_line import SPECIMENS, finding_faults, verdict_faults
from replay.measure import (
    ENOUGH_ROUNDS,
    Outcome,
    copies,
    differs,
    faults_of,
    flaps,
    prefixes,
    whole,
)
from replay.recordings import RECORDINGS, forget_timelines, recordings

RECORDED = tuple(recordings())
each_recording = pytest.mark.parametrize("recorded", RECORDED, ids=str)
# Of all answers after 5 to 11 rounds so many may be wrong: so little is hardly a run.
MOST_WRONG_EARLY = 0.01
# And so many after a leak was told may be unsure again.
MOST_DOUBTED = 0.005
MOST_BYTES = 5_000_000
FEWEST_RUNS = 3


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_left():
    """The tests of the census walk all objects of this process: half a million would be ours."""
    yield
    forget_timelines()


@pytest.fixture(scope="module")
def answers_on(tmp_path_factory):
    """All answers on a recording's prefixes, given once for all tests in all worker processes."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder = folder / "answers"
    folder.mkdir(exist_ok=True)

    def answers(recorded):
        path = folder / f"{recorded.specimen}-{recorded.run}"
        if not path.exists():
            own = path.with_suffix(f".{os.getpid()}")
            own.write_bytes(pickle.dumps([*prefixes(recorded)]))
            own.rename(path)
        return pickle.loads(path.read_bytes())

    return answers


def told(faults):
    return "\n".join(f"{what}: {one}" for what, answers in faults.items() for one in answers)


@each_recording
def test_whole_run_is_judged_as_the_first_line_says(recorded):
    report = to_dict(diagnose(recorded.timeline()))
    verdict, truth = report["verdict"], recorded.truth
    faults = verdict_faults(verdict, truth)
    faults += finding_faults(report["findings"], truth, is_leak=verdict["is_leak"])

    assert not faults, verdict["because"]


TRACED_ONCE = [one for one in RECORDED if one.specimen == "retrace_each_call_leaks"]


@pytest.mark.parametrize("recorded", TRACED_ONCE, ids=str)
def test_function_that_is_traced_once_per_call_is_said_to_be(recorded):
    """The loop is quick, so that most of its iterations are not looked at."""
    [finding] = diagnose(recorded.timeline()).findings

    assert finding.message.startswith("`total` is traced again once every iteration, and keeps")


@each_recording
def test_prefixes_are_judged_right_and_stay_so(recorded, answers_on):
    faults = faults_of(answers_on(recorded))

    assert not faults, told(faults)


def test_few_prefixes_of_few_rounds_are_judged_wrong(answers_on):
    answers = [
        one for recorded in RECORDED for one in answers_on(recorded) if one.rounds < ENOUGH_ROUNDS
    ]
    wrong = [one for one in answers if one.outcome is Outcome.WRONG]

    assert len(wrong) <= MOST_WRONG_EARLY * len(answers), told({"wrong": wrong})


def test_leak_that_was_told_is_hardly_ever_doubted_again(answers_on):
    """Threads that fill buffers ahead can make a leak look as if it had paused."""
    answers = [answers_on(recorded) for recorded in RECORDED if recorded.truth.is_leak]
    doubted = [one for of_run in answers for one in flaps(of_run)]

    assert len(doubted) <= MOST_DOUBTED * sum(map(len, answers)), told({"doubted": doubted})


@each_recording
def test_copy_is_judged_like_the_run_itself(recorded):
    original = whole(recorded)
    others = [one for one in copies(recorded) if differs(one, original)]

    assert not others, told({"judged otherwise": others})


def test_every_specimen_is_recorded_several_times():
    runs = [recorded.specimen for recorded in RECORDED]
    specimens = {path.stem for path in SPECIMENS.glob("*.py")}

    assert {name for name in specimens if runs.count(name) < FEWEST_RUNS} == set()
    assert {path.name for path in RECORDINGS.iterdir() if path.is_dir()} <= specimens


def test_recordings_are_small_and_name_no_folder_of_the_machine():
    contents = [recorded.content() for recorded in RECORDED]

    assert sum(recorded.path.stat().st_size for recorded in RECORDED) < MOST_BYTES
    for recorded, content in zip(RECORDED, contents, strict=True):
        assert not {b for b in (b"/home/", b"/root", b"/tmp/", b"/work/") if b in content}, recorded
