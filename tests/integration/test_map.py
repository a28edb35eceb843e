"""Many trials: in order, with their errors, and again from where they were interrupted."""

import dataclasses
import functools
import math
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import lowwater
from lowwater.errors import (
    ChildOutOfMemory,
    ChildTimedOut,
    NotPicklable,
    UnreadableInput,
    UsageError,
)
from lowwater.isolation import results_file


def power(base, exponent=2):
    return base**exponent


def fails_on_three(number):
    if number == 3:
        raise ValueError("three")
    return number


@dataclasses.dataclass(frozen=True)
class Adam:
    rate: float


@dataclasses.dataclass(frozen=True)
class Momentum:
    rate: float


class NoScores:
    """In the place of `pickle`."""

    dumps = staticmethod(pickle.dumps)

    @staticmethod
    def loads(_):
        raise KeyError("Score")


def kind_of(config):
    return type(config).__name__


class TestOrder:
    def test_results_are_in_the_order_of_the_configurations(self):
        assert lowwater.map(power, [3, 1, 2], workers=2) == [9, 1, 4]

    def test_tuples_and_dictionaries_are_spread(self):
        configs = [(2, 3), {"base": 3, "exponent": 3}]

        assert lowwater.map(power, configs) == [8, 27]

    def test_folds_of_scikit_learn_are_configurations(self):
        folds = iter([(np.array([0, 1]), np.array([2])), (np.array([1, 2]), np.array([0]))])

        assert lowwater.map(lambda train, test: int(train.sum() - test.sum()), folds) == [-1, 3]

    def test_nothing_to_do_is_no_error(self):
        assert lowwater.map(power, []) == []

    def test_each_outcome_has_its_memory(self):
        results = lowwater.map(power, [1, 2])

        assert all(outcome.memory.peak_bytes > 0 for outcome in results.outcomes)

    def test_limits_of_the_decorator_hold(self):
        @lowwater.isolated(memory="200 MiB")
        def greedy(size):
            return int(np.ones(size << 20, dtype="uint8").sum())

        results = lowwater.map(greedy, [1, 400], on_error="collect")

        assert results[0] == 1 << 20
        assert isinstance(results[1], ChildOutOfMemory)

    def test_limit_given_to_the_map_leaves_the_others_of_the_decorator(self):
        trial = lowwater.isolated(time.sleep, timeout="1 s")

        [error] = lowwater.map(trial, [60], memory="4 GiB", on_error="collect")

        assert isinstance(error, ChildTimedOut)

    def test_partial_of_an_isolated_function_is_one(self):
        @lowwater.isolated(timeout="1 s")
        def trial(seconds, number):
            time.sleep(seconds * number)
            return os.getppid()

        results = lowwater.map(functools.partial(trial, 60), [0, 0, 1], on_error="collect")

        assert results[0] == results[1]  # forked by one server, not each by its own
        assert isinstance(results[2], ChildTimedOut)

    def test_workers_run_side_by_side(self, tmp_path):
        def meets_the_other(number):
            (tmp_path / str(number)).touch()
            while not (tmp_path / str(1 - number)).exists():
                pass
            return number

        assert lowwater.map(meets_the_other, [0, 1], workers=2, timeout="60 s") == [0, 1]


class TestErrors:
    def test_first_error_is_raised(self):
        with pytest.raises(ValueError, match="three"):
            lowwater.map(fails_on_three, [1, 2, 3, 4])

    @pytest.mark.parametrize("file", [None, "scores.lw"])
    def test_configuration_that_cannot_be_sent_is_an_error_like_others(self, tmp_path, file):
        results = lowwater.map(
            power,
            [2, threading.Lock(), 3],
            on_error="collect",
            results=tmp_path / file if file else None,
        )

        assert [results[0], results[2]] == [4, 9]
        assert isinstance(results[1], NotPicklable)

    def test_end_of_an_iterator_is_an_error_like_others(self):
        with pytest.raises(StopIteration):
            lowwater.map(lambda number: next(iter([])), [1])

    def test_collected_errors_stand_in_their_places(self):
        results = lowwater.map(fails_on_three, [1, 3, 4], on_error="collect")

        assert [results[0], results[2]] == [1, 4]
        assert isinstance(results[1], ValueError)

    def test_failed_trial_is_tried_again(self, tmp_path):
        def fails_at_first(number):
            mark = tmp_path / str(number)
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return number

        results = lowwater.map(fails_at_first, [1, 2], retries=1)

        assert results == [1, 2]
        assert [outcome.attempts for outcome in results.outcomes] == [2, 2]

    def test_error_kills_the_trials_that_still_run(self, tmp_path):
        def trial(number):
            if number:
                (tmp_path / "pid").write_text(str(os.getpid()))
                threading.Event().wait()
            while not (tmp_path / "pid").exists():
                pass
            raise ValueError("first")

        with pytest.raises(ValueError, match="first"):
            lowwater.map(trial, [0, 1], workers=2, timeout="60 s")
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"on_error": "ignore"}, 'on_error must be "raise" or "collect"'),
            ({"workers": 0}, "`workers` must be 1 or more"),
            ({"retries": -1}, "`retries` must be 0 or more"),
            ({"timeout": "never"}, "`timeout` must be more than 0"),
        ],
    )
    def test_options_that_cannot_be_are_refused(self, options, told):
        with pytest.raises(UsageError, match=told):
            lowwater.map(power, [1], **options)

    def test_configurations_have_to_be_a_list(self):
        with pytest.raises(UsageError, match="takes the configurations as a list"):
            lowwater.map(power, 3)

    def test_function_has_to_be_one(self):
        with pytest.raises(UsageError, match="map\\(\\) takes a function"):
            lowwater.map("power", [1])


class TestResultsFile:
    @pytest.fixture
    def calls(self, tmp_path):
        """A function that leaves a mark for every call, and those marks."""
        folder = tmp_path / "calls"
        folder.mkdir()

        def trial(number):
            (folder / f"{number}-{os.getpid()}").touch()
            if number == 3 and not (tmp_path / "mended").exists():
                raise ValueError("three")
            return np.full(3, number)

        def made():
            return sorted(int(mark.name.partition("-")[0]) for mark in folder.iterdir())

        return trial, made

    def test_second_run_makes_only_what_is_missing(self, tmp_path, calls):
        trial, made = calls
        file = tmp_path / "scores.lw"
        with pytest.raises(ValueError, match="three"):
            lowwater.map(trial, [1, 2, 3, 4], results=file)
        (tmp_path / "mended").touch()

        results = lowwater.map(trial, [1, 2, 3, 4], results=file)

        assert [array[0] for array in results] == [1, 2, 3, 4]
        assert made() == [1, 2, 3, 3, 4]
        assert [outcome.started for outcome in results.outcomes[:2]] == ["results file"] * 2

    def test_same_configuration_twice_is_two_trials(self, tmp_path, calls):
        trial, made = calls
        file = tmp_path / "scores.lw"

        lowwater.map(trial, [1, 1], results=file)
        lowwater.map(trial, [1, 1, 1], results=file)

        assert made() == [1, 1, 1]

    def test_other_order_finds_its_results(self, tmp_path, calls):
        trial, made = calls
        file = tmp_path / "scores.lw"
        lowwater.map(trial, [1, 2], results=file)

        assert [array[0] for array in lowwater.map(trial, [2, 1], results=file)] == [2, 1]
        assert made() == [1, 2]

    def test_equal_numbers_in_other_classes_are_other_configurations(self, tmp_path):
        file = tmp_path / "scores.lw"
        lowwater.map(kind_of, [Adam(0.1), None], results=file)

        assert lowwater.map(kind_of, [Momentum(0.1), math.inf], results=file) == [
            "Momentum",
            "float",
        ]

    def test_what_is_bound_to_a_function_is_part_of_the_configuration(self, tmp_path):
        file = tmp_path / "scores.lw"
        lowwater.map(functools.partial(power, exponent=2), [3], results=file)

        assert lowwater.map(functools.partial(power, exponent=3), [3], results=file) == [27]

    def test_number_that_a_closure_uses_is_part_of_the_configuration(self, tmp_path):
        def trial_of(fold):
            return lambda number: fold + number

        file = tmp_path / "scores.lw"
        lowwater.map(trial_of(10), [3], results=file)

        assert lowwater.map(trial_of(20), [3], results=file) == [23]

    def test_results_of_another_function_that_is_bound_are_refused(self, tmp_path):
        file = tmp_path / "scores.lw"
        lowwater.map(functools.partial(power, exponent=2), [3], results=file)

        with pytest.raises(UsageError, match="has the results of another function"):
            lowwater.map(functools.partial(fails_on_three), [3], results=file)

    def test_classes_of_the_script_are_its_own_in_the_next_run(self, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(
            textwrap.dedent("""\
            import dataclasses, enum, lowwater
            class End(enum.Enum):
                GOOD = 1
            @dataclasses.dataclass
            class Score:
                end: End
            def trial(number):
                return Score(End.GOOD)
            [score] = lowwater.map(trial, [0], results="scores.lw")
            print(type(score) is Score, score.end is End.GOOD)
            """)
        )
        command = [sys.executable, str(script)]

        told = [subprocess.check_output(command, cwd=tmp_path, text=True) for _ in range(2)]

        assert told == ["True True\n"] * 2

    def test_result_that_cannot_be_read_is_made_again(self, tmp_path, calls, monkeypatch):
        trial, made = calls
        file = tmp_path / "scores.lw"
        lowwater.map(trial, [1], results=file)
        # As if the class of the result had been renamed since.
        monkeypatch.setattr(results_file, "pickle", NoScores)

        with pytest.warns(
            UserWarning, match="Cannot read a result in .*; its trial runs again: KeyError"
        ):
            lowwater.map(trial, [1], results=file)
        assert made() == [1, 1]

    def test_file_cut_off_at_any_byte_is_gone_on_with(self, tmp_path, calls):
        trial, made = calls
        file = tmp_path / "scores.lw"
        lowwater.map(trial, [1, 2], results=file)
        whole = file.read_bytes()
        file.write_bytes(whole[:-5])

        results = lowwater.map(trial, [1, 2], results=file)

        assert [array[0] for array in results] == [1, 2]
        assert made() == [1, 2, 2]
        assert len(file.read_bytes()) > len(whole) - 5

    def test_foreign_file_is_refused_and_kept(self, tmp_path):
        file = tmp_path / "notes.txt"
        file.write_text("my notes")

        with pytest.raises(UnreadableInput, match="is not a results file of map"):
            lowwater.map(power, [1], results=file)
        assert file.read_text() == "my notes"

    def test_what_is_no_file_is_refused(self):
        with pytest.raises(UsageError, match="is not a file that can hold results"):
            lowwater.map(power, [1], results="/dev/full")

    def test_results_of_another_function_are_refused(self, tmp_path):
        file = tmp_path / "scores.lw"
        lowwater.map(power, [1], results=file)

        with pytest.raises(UsageError, match="has the results of another function"):
            lowwater.map(fails_on_three, [1], results=file)

    def test_function_that_has_changed_is_told(self, tmp_path):
        file = tmp_path / "scores.lw"

        def trial(number):
            return number + 1

        lowwater.map(trial, [1], results=file)
        trial.__code__ = (lambda number: number + 2).__code__

        with pytest.warns(UserWarning, match="has changed since the results"):
            assert lowwater.map(trial, [1], results=file) == [2]

    def test_folder_that_does_not_exist_is_refused_before_any_trial(self, tmp_path, calls):
        trial, made = calls

        with pytest.raises(UsageError, match="Cannot write the results"):
            lowwater.map(trial, [1], results=tmp_path / "no" / "scores.lw")
        assert made() == []

    def test_map_that_was_killed_goes_on(self, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(
            textwrap.dedent("""\
            import os, signal, sys, lowwater
            caller = os.getpid()
            def trial(number):
                if number == 2 and sys.argv[1] == "die":
                    os.kill(caller, signal.SIGKILL)
                print("trial", number, flush=True)
                return number
            print(lowwater.map(trial, [0, 1, 2, 3], results="scores.lw"))
            """)
        )

        def run(word):
            return subprocess.run(
                [sys.executable, str(script), word],
                capture_output=True,
                text=True,
                cwd=tmp_path,
                timeout=60,
                check=False,
            )

        died, done = run("die"), run("live")

        assert died.returncode == -signal.SIGKILL
        assert done.stdout == "trial 2\ntrial 3\n[0, 1, 2, 3]\n"


def needs(batch_size, rate=0.1):
    if batch_size > 10:
        raise MemoryError(f"no room for {batch_size}")
    return batch_size


def takes(batch_size):
    block = np.ones((batch_size, 1 << 20), "uint8")
    return len(block)


def test_trial_that_runs_out_of_memory_is_made_again_with_half(capfd):
    configs = [{"batch_size": 64}, (4, 0.5)]

    results = lowwater.map(needs, configs, on_oom="halve batch_size", retries=3)

    assert results == [8, 4]
    told = [(one.config, one.reductions, one.attempts) for one in results.outcomes]
    assert told == [({"batch_size": 8}, 3, 1), ((4, 0.5), 0, 1)]
    assert configs == [{"batch_size": 64}, (4, 0.5)]


def test_trial_that_its_limit_kills_is_made_again_with_half():
    [outcome] = lowwater.map(
        takes, [{"batch_size": 900}], memory="400 MiB", on_oom="halve batch_size"
    ).outcomes

    assert outcome.value == outcome.config["batch_size"] == 225
    assert "made smaller 2 times" in str(outcome)


def test_trial_that_fails_with_the_smallest_has_its_error_and_its_autopsy():
    def never(batch_size):
        raise MemoryError("no")

    [outcome] = lowwater.map(
        never, [{"batch_size": 3}], on_oom="halve batch_size", on_error="collect"
    ).outcomes

    assert isinstance(outcome.error, MemoryError)
    assert (outcome.config, outcome.reductions) == ({"batch_size": 1}, 1)
    assert outcome.autopsy.manner == "inconclusive"
    assert outcome.error.__notes__ == [str(outcome.autopsy)]


def test_function_says_what_is_smaller_and_when_to_stop():
    def fewer(config):
        return {**config, "batch_size": config["batch_size"] - 20} if config else None

    [outcome] = lowwater.map(needs, [{"batch_size": 45}], on_oom=fewer).outcomes

    assert (outcome.value, outcome.reductions) == (5, 2)


def test_other_errors_are_not_tried_with_less():
    def fails(batch_size):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        lowwater.map(fails, [{"batch_size": 64}], on_oom="halve batch_size")


def test_results_file_remembers_it_under_the_first_configuration(tmp_path):
    path = tmp_path / "found.lwr"
    lowwater.map(needs, [{"batch_size": 64}, (4,)], on_oom="halve batch_size", results=path)

    again = lowwater.map(needs, [{"batch_size": 64}, (4,)], on_oom="halve batch_size", results=path)

    assert {one.started for one in again.outcomes} == {"results file"}
    assert [(one.config, one.reductions) for one in again.outcomes] == [
        ({"batch_size": 8}, 3),
        ((4,), 0),
    ]


def test_bad_on_oom_is_told_before_anything_runs(tmp_path):
    def marks(batch_size):
        (tmp_path / "ran").touch()

    with pytest.raises(UsageError, match="whole number"):
        lowwater.map(marks, [{"batch_size": 2}, {"batch_size": 0.5}], on_oom="halve batch_size")

    assert not (tmp_path / "ran").exists()
