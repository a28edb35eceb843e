"""What no honest recording holds is refused or left out; counted here, for time is not asserted."""

import os
import random
import re
import subprocess
import sys

import msgspec
import pytest

from lowwater.errors import UnreadableInput
from lowwater.recording import bounds, fold
from lowwater.recording.frames import MAGIC, MOST_BYTES, MOST_FRAME_BYTES, frame
from lowwater.recording.reader import Follower, load
from lowwater.supervisor.session import diagnose
from lowwater.verdict import trend

DEEP = b"\x92\xabexperiments\x81\xa1a" + b"\x91" * 100_000 + b"\x00"

TOO_LONG = (MOST_FRAME_BYTES + 1).to_bytes(4, "little") + b"\0" * 99
REPAIR = {"code": "XX", "name": "x", "library": "x", "state": "applied", "because": "x"}


def record(*values):
    return frame(msgspec.msgpack.encode([*values]))


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "run.lw"

    def write(*frames):
        path.write_bytes(MAGIC + b"".join(frames))
        return path

    return write


@pytest.mark.parametrize(
    ("damaged", "sentence"),
    [
        (frame(b"\x91\xa2\x97\x97"), "is damaged .*utf-8"),
        (frame(DEEP), "is damaged .*lists nested too deeply"),
        (record("outside", 1, 2**64 - 1), "is damaged .*the number 18446744073709551615"),
        (record("experiments", {"elapsed_s": float("nan")}), "is damaged .*the number nan"),
        (record("experiments", {"notes": [""] * 5000}), "is damaged .*a list of 5,000 items"),
        (record("experiments", {"x": [[[[[[[[[[[[[[0]]]]]]]]]]]]]]}), "is damaged .*deep"),
        (record("s", -1, 1, 1, []), "cannot read .*>= 0"),
        (record("columns", [""] * 300), "cannot read .*length <= 256"),
        (record("mended", [REPAIR]), "holds a repair that this release cannot read"),
        (TOO_LONG, "is damaged .*a record of 4,194,305 bytes"),
        (frame(b""), "is damaged .*truncated"),
    ],
)
def test_what_cannot_be_honest_is_refused_in_a_sentence(written, damaged, sentence):
    with pytest.raises(UnreadableInput, match=sentence) as refused:
        load(written(record("unit", 0, "epoch", None), damaged))

    assert len(str(refused.value)) < 600


def test_a_sentence_quotes_little_of_the_file(written):
    with pytest.raises(UnreadableInput) as refused:
        load(written(record("x" * 1_000_000)))

    assert len(str(refused.value)) < 600


def test_a_wrong_length_is_no_torn_tail(written):
    notes = [record("note", i, f"note {i}") for i in range(3)]
    flipped = bytes([notes[1][0] | 0x80, *notes[1][1:]])

    with pytest.raises(UnreadableInput, match="a wrong length at byte 31"):
        load(written(notes[0], flipped, notes[2]))


def test_a_tail_that_was_torn_is_left_out(written):
    notes = [record("note", i, f"note {i}") for i in range(3)]

    assert len(load(written(*notes[:2], notes[2][:-1])).notes) == 2


def test_all_values_of_a_file_together_are_bounded(written, monkeypatch):
    monkeypatch.setattr(bounds, "MOST_VALUES", 1000)
    samples = [record("s", 0, i, i, [1] * 10) for i in range(100)]

    with pytest.raises(UnreadableInput, match="more than 1,000 values"):
        load(written(record("unit", 0, "epoch", None), *samples))


def test_long_strings_are_cut(written):
    [note] = load(written(record("note", 1, "é" * 1_000_000))).notes

    assert len(note.text) == bounds.MOST_CHARACTERS + 1


def test_of_a_unit_that_has_no_name_nothing_is_told(written):
    timeline = load(written(record("columns", ["heap_used"]), record("s", 7, 1, 1, [5])))

    assert timeline.samples == ()


def test_the_first_name_of_a_unit_stays(written):
    [unit] = load(written(record("unit", 0, "epoch", None), record("unit", 0, "x", None))).units

    assert unit.name == "epoch"


def test_of_many_units_those_with_the_most_samples_are_judged(written):
    units = [record("unit", i, f"episode {i}", None) for i in range(20_000)]
    once = [record("s", i, 1, i, [10**8]) for i in range(20_000)]
    often = [record("s", 19_999, i, i, [10**8]) for i in range(1, 30)]

    diagnosis = diagnose(load(written(record("columns", ["heap_used"]), *units, *once, *often)))

    assert len(diagnosis.units) == fold.MOST_CASES
    assert diagnosis.verdict.unit.name == "episode 19999"
    assert diagnosis.notes == (
        "20,000 kinds of round trips were recorded; only the 256 with the most samples are judged",
    )


@pytest.mark.parametrize(
    ("kind", "values", "most"),
    [
        ("note", (1, "x"), fold.MOST_NOTES),
        ("gc", (0, 1, 1, 5, 5), fold.MOST_COLLECTIONS),
        ("census", (0, 1, 1, 1, 1, 1, []), fold.MOST_CENSUSES),
        ("outside", (1, 1), fold.MOST_OUTSIDE),
    ],
)
def test_more_of_a_kind_than_can_be_told_is_left_out_with_a_note(written, kind, values, most):
    timeline = load(written(*[record(kind, *values)] * (most + 3)))

    kept = {
        "note": timeline.notes[:-1],
        "gc": timeline.collections,
        "census": timeline.censuses,
        "outside": timeline.outside,
    }
    assert len(kept[kind]) == most
    assert "3 more" in timeline.notes[-1].text


def test_pairs_of_marks_are_bounded_however_many_samples_and_units(written, monkeypatch):
    generator = random.Random(1)
    pairs, really = [], trend._pairs

    def counted(series):
        pairs.append(len(series))
        return really(series)

    monkeypatch.setattr(trend, "_pairs", counted)
    rows = []
    for unit in range(30):
        rows.append(record("unit", unit, f"u{unit}", None))
        for i in range(500):
            level = 10**8 + i * 10**5 + generator.randrange(10**6)
            rows.append(record("s", unit, i, i * 1000, [level, level, level // 2, level // 3]))

    diagnose(
        load(written(record("columns", ["heap_used", "rss_anon", "heap_free", "rss_file"]), *rows))
    )

    assert max(pairs) <= 400
    assert max(pairs) ** 2 * 30 <= 400**2 * 24 * 1.1


def test_changes_that_cover_each_other_come_to_an_end(written):
    measured = {"kind": "leak", "unit": "epoch", "rounds": 12, "growth_bytes": 4000}
    keys = [f"change {i}" for i in range(100)]
    rows = [
        {
            "name": key,
            "says": "stops",
            "key": key,
            "measured": measured,
            "difference": {"effect": "stops", "share": 0.5},
            "covers": keys,
        }
        for key in keys
    ]
    base = {"name": "as it is", "says": "leaks", "measured": measured}

    diagnosis = diagnose(load(written(record("experiments", {"rows": [base, *rows]}))))

    assert diagnosis.conclusion.sentences


def test_who_looks_on_is_not_stopped_by_damage(written):
    path = written(record("note", 1, "before"), frame(DEEP), record("note", 2, "behind"))
    follower = Follower(str(path))

    assert [note.text for note in follower.new_records()] == ["before"]
    assert [*follower.new_records()] == []


@pytest.mark.parametrize(
    ("content", "received"),
    [(b"", "is not a Lowwater recording"), (MAGIC, r"is damaged .*no recording is larger than 32")],
)
def test_a_huge_file_is_not_read(tmp_path, content, received):
    path = tmp_path / "huge.lw"
    path.write_bytes(content)
    os.truncate(path, 64 * MOST_BYTES)
    program = (
        "import resource, sys\n"
        "from lowwater.recording.reader import load\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: load(sys.argv[1])\n"
        "except Exception as error: print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )

    error, more_kib = done.stdout.splitlines()
    assert int(more_kib) < 8 * 1024
    assert re.search(received, error)
