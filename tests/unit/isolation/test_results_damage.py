"""A damaged results file never gives a wrong result, and never loses a good one in silence."""

import os
import pickle
import stat
import struct
import warnings
import zlib

import msgspec
import pytest

from lowwater.errors import UnreadableInput, UsageError
from lowwater.isolation import results_frames
from lowwater.isolation.limits import Limits
from lowwater.isolation.outcome import TrialOutcome
from lowwater.isolation.results_file import ResultsFile
from lowwater.isolation.results_frames import MARK
from lowwater.isolation.trial import Trial

TRIALS = [Trial(abs, (number,), {}, Limits()) for number in range(4)]
VALUES = {number: f"value {number}" for number in range(4)}


@pytest.fixture
def path(tmp_path):
    """A file with four results."""
    path = tmp_path / "scores.lw"
    add(path, VALUES)
    return path


def add(path, values):
    with ResultsFile(path, abs) as kept:
        kept.known(TRIALS)
        for number, value in values.items():
            kept.add(number, TrialOutcome(value))


def found(path, function=abs):
    """The values that are found again, and what is said."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with ResultsFile(path, function) as kept:
            outcomes = kept.known(TRIALS)
    return {number: one.value for number, one in outcomes.items()}, [
        str(one.message) for one in told
    ]


def frames_of(data):
    """Where each frame begins, and the end."""
    starts = [at for at in range(len(data)) if data.startswith(MARK, at)]
    return [*starts, len(data)]


def first_version(values, function="abs", code=None):
    """As the first version wrote it."""

    def frame(record):
        payload = msgspec.msgpack.encode(record)
        return struct.pack("<II", len(payload), zlib.crc32(payload)) + payload

    keys = [f"{ResultsFile(None, abs)._prints.of_call((n,), {})}-0" for n in range(4)]
    memory = {"peak_bytes": 1}
    results = [
        {
            "key": keys[number],
            "value": pickle.dumps(value),
            "memory": memory,
            "elapsed_s": 1.0,
            "attempts": 1,
        }
        for number, value in values.items()
    ]
    return [
        b"LOWWATER-RESULTS1\n",
        frame({"function": function, "code": code}),
        *map(frame, results),
    ]


def outcome_of(path, damaged):
    """Found, told; or None where the file was refused. In no case was anything destroyed."""
    path.write_bytes(damaged)
    try:
        values, told = found(path)
    except UnreadableInput:
        assert path.read_bytes() == damaged
        return None
    assert values.items() <= VALUES.items()
    return values, told


class TestDamage:
    def test_flipped_bit_anywhere_is_told_or_costs_nothing(self, path):
        good = path.read_bytes()
        refused = 0

        for at in range(len(good)):
            damaged = bytearray(good)
            damaged[at] ^= 1 << at % 8
            outcome = outcome_of(path, bytes(damaged))
            if outcome is None:
                refused += 1
                continue
            values, told = outcome
            lost = len(VALUES) - len(values)
            assert lost <= 1
            assert len(told) == lost
            assert path.read_bytes().startswith(damaged)
        # A version that is newer by the look of it.
        assert refused <= 1

    def test_file_cut_off_anywhere_loses_in_silence_what_was_not_finished(self, path):
        good = path.read_bytes()
        starts = frames_of(good)[2:]

        for end in range(len(good)):
            values, told = outcome_of(path, good[:end])
            assert told == []
            assert len(values) == sum(start <= end for start in starts)

    @pytest.mark.parametrize("length", [1, 40, 200, 400])
    def test_hole_of_zeros_is_told_and_what_is_behind_it_found(self, path, length):
        good = path.read_bytes()
        starts = frames_of(good)

        for at in range(starts[0] + 16, len(good) - length):
            outcome = outcome_of(path, good[:at] + bytes(length) + good[at + length :])
            values, told = outcome
            hit = [
                number
                for number in VALUES
                if at < starts[number + 2] and at + length > starts[number + 1]
            ]
            assert {*VALUES} - {*hit} <= {*values}
            assert bool(told) == (len(values) < len(VALUES))

    def test_beginning_full_of_zeros_is_refused(self, path):
        damaged = bytes(100) + path.read_bytes()[100:]

        assert outcome_of(path, damaged) is None

    def test_lost_results_are_counted_and_told_once(self, path):
        good = path.read_bytes()
        starts = frames_of(good)
        # From the first result into the second.
        damaged = good[: starts[1] + 5] + bytes(starts[2] - starts[1]) + good[starts[2] + 5 :]

        values, told = outcome_of(path, damaged)

        assert [*values] == [2, 3]
        assert told == [f"2 results in {path} were damaged and are computed again"]
        add(path, {0: "value 0", 1: "value 1"})
        assert found(path) == (VALUES, [])

    def test_damage_at_the_end_is_told_and_left_where_it_is(self, path):
        good = path.read_bytes()
        damaged = good[:-1] + b"?"

        values, told = outcome_of(path, damaged)

        assert [*values] == [0, 1, 2]
        assert told == [f"At least 1 result in {path} was damaged and is computed again"]
        assert path.read_bytes().startswith(damaged)

    @pytest.mark.parametrize("garbage", [b"\1", b"garbage" * 9, bytes(5000), MARK * 500])
    def test_what_was_appended_by_others_costs_no_result(self, path, garbage):
        values, told = outcome_of(path, path.read_bytes() + garbage)

        assert values == VALUES
        assert len(told) == 1
        add(path, {0: "value 0"})
        assert found(path) == (VALUES, [])

    def test_length_that_is_wrong_hides_nothing(self, path):
        good = path.read_bytes()
        at = frames_of(good)[2] + len(MARK) + 8

        for bit in range(64):
            damaged = bytearray(good)
            damaged[at + bit // 8] ^= 1 << bit % 8
            values, told = outcome_of(path, bytes(damaged))
            assert [*values] == [0, 2, 3]
            assert told == [f"1 result in {path} was damaged and is computed again"]

    def test_result_that_holds_a_results_file_is_kept_apart_from_it(self, path, tmp_path):
        inner, outer = path.read_bytes(), tmp_path / "outer.lw"
        add(outer, {0: inner, 1: "value 1"})
        assert found(outer) == ({0: inner, 1: "value 1"}, [])

        data = bytearray(outer.read_bytes())
        data[frames_of(data)[1] + 20] ^= 1
        outer.write_bytes(data)

        values, told = found(outer)
        assert (values, len(told)) == ({1: "value 1"}, 1)

    def test_results_are_of_the_function_even_if_the_first_frame_is_lost(self, path):
        data = bytearray(path.read_bytes())
        data[30] ^= 1
        path.write_bytes(data)

        with pytest.raises(UsageError, match="has the results of another function"):
            found(path, len)
        assert found(path) == (VALUES, [])

    def test_frame_with_something_else_in_it_is_told(self, path):
        with path.open("ab") as file:
            file.write(results_frames.frame(5, b"\xc1 no record"))
            file.write(results_frames.frame(6, msgspec.msgpack.encode({"told_lost": 0})))

        values, told = found(path)

        assert (values, len(told)) == (VALUES, 1)


class TestOtherFiles:
    @pytest.mark.parametrize("content", [b"my notes", b"\0" * 100, b"LOWWATER\x02" + b"x" * 50])
    def test_foreign_file_is_refused_as_it_is(self, path, content):
        assert outcome_of(path, content) is None

    def test_file_of_a_newer_release_is_refused_as_it_is(self, path):
        newer = path.read_bytes().replace(b"RESULTS2", b"RESULTS3")
        path.write_bytes(newer)

        with pytest.raises(UnreadableInput, match=r"a newer Lowwater .*format 3.*--upgrade"):
            found(path)
        assert path.read_bytes() == newer

    def test_second_writer_is_refused(self, path):
        with (
            ResultsFile(path, abs),
            pytest.raises(UsageError, match="Another map is writing"),
        ):
            found(path)

    def test_pipe_is_refused_without_waiting(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")

        with pytest.raises(UsageError, match="is not a file that can hold results"):
            found(tmp_path / "pipe")

    def test_new_file_is_private(self, path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_huge_hole_is_not_read(self, path, monkeypatch):
        read = []
        pread = os.pread
        with path.open("r+b") as file:
            file.truncate(1 << 36)
        monkeypatch.setattr(
            results_frames.os, "pread", lambda *of: read.append(len(data := pread(*of))) or data
        )

        values, told = found(path)

        assert (values, len(told)) == (VALUES, 1)
        assert sum(read) < 32 << 20

    def test_large_result_is_checked_in_pieces(self, tmp_path, monkeypatch):
        path = tmp_path / "large.lw"
        add(path, {0: bytes(5 << 20)})
        asked = []
        pread = os.pread
        monkeypatch.setattr(
            results_frames.os, "pread", lambda *of: asked.append(of[1]) or pread(*of)
        )
        with path.open("rb") as file:
            _, (_, payload) = results_frames.Frames(file.fileno(), 18, path.stat().st_size)

        assert payload.length > 5 << 20
        assert max(asked) <= 1 << 20


class TestFirstVersion:
    def test_results_are_found_and_gone_on_with(self, path):
        path.write_bytes(b"".join(first_version({0: "value 0", 1: "value 1"})))

        assert found(path) == ({0: "value 0", 1: "value 1"}, [])
        add(path, {2: "value 2", 3: "value 3"})
        assert found(path) == (VALUES, [])

    def test_cut_off_anywhere_it_is_gone_on_with(self, path):
        parts = first_version(VALUES)
        good = b"".join(parts)

        for end in range(len(parts[0]), len(good)):
            values, told = outcome_of(path, good[:end])
            assert told == []
            # Not even what was not finished is cut off.
            assert path.read_bytes().startswith(good[:end])
            add(path, {number: value for number, value in VALUES.items() if number not in values})
            assert found(path) == (VALUES, [])

    def test_flipped_bit_is_refused_or_costs_the_last_result(self, path):
        parts = first_version(VALUES)
        good = b"".join(parts)

        for at in range(len(parts[0]), len(good)):
            damaged = bytearray(good)
            damaged[at] ^= 1 << at % 8
            outcome = outcome_of(path, bytes(damaged))
            if outcome is not None:  # its length looks like one of a result not finished
                assert len(good) - len(parts[-1]) <= at < len(good) - len(parts[-1]) + 4
                assert len(outcome[0]) == 3

    def test_hole_of_zeros_is_refused(self, path):
        parts = first_version(VALUES)
        parts[3] = bytes(len(parts[3]))

        assert outcome_of(path, b"".join(parts)) is None
