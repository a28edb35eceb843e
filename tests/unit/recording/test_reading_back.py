"""A recording is readable after a kill at any byte; anything else wrong is a clear sentence."""

import msgspec
import pytest

from lowwater.errors import UnreadableInput
from lowwater.model import Kind, Mending, MendState
from lowwater.model.experiment import Difference, Effect, Experiment, Experiments, Measured
from lowwater.recording.frames import MAGIC, frame
from lowwater.recording.reader import Follower, load
from lowwater.recording.records import (
    Began,
    Collected,
    Columns,
    Ended,
    Experimented,
    Mended,
    Noted,
    Sampled,
    SeenOutside,
    UnitSeen,
    Unmeasured,
    encode,
)
from lowwater.recording.writer import Writer, append_after_end


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "run.lw"
    writer = Writer(str(path))
    writer.append(Began({"script": "train.py"}))
    writer.append(Unmeasured("tensorflow", "the program has not used TensorFlow"))
    writer.append(UnitSeen(0, "epoch", None))
    writer.append(Columns(["heap_used", "rss_anon"]))
    writer.append(Sampled(0, 1, 500_000, [10, 20]))
    writer.append(Columns(["heap_used", "rss_anon", "models"]))
    writer.append(Sampled(0, 2, 1_000_000, [11, None, 1]))
    writer.append(Collected(0, 2, 1_000_000, 11, 9))
    writer.append(Noted(1_100_000, "a note"))
    writer.close()
    return path


def test_what_was_written_is_read_back(recording):
    timeline = load(recording)

    assert timeline.environment == {"script": "train.py"}
    assert [str(unit) for unit in timeline.units] == ["epoch"]
    assert [sample.gauges for sample in timeline.samples] == [
        {"heap_used": 10, "rss_anon": 20},
        {"heap_used": 11, "models": 1},
    ]
    assert timeline.samples[0].elapsed_s == 0.5
    assert timeline.collections[0].freed_bytes == 2
    assert timeline.unmeasured == {"tensorflow": "the program has not used TensorFlow"}
    assert timeline.notes[0].text == "a note"
    assert timeline.ending is None


def test_cut_at_any_byte_it_gives_the_samples_before_the_cut(recording):
    whole = recording.read_bytes()
    counts = []
    for length in range(len(MAGIC), len(whole)):
        recording.write_bytes(whole[:length])
        counts.append(len(load(recording).samples))

    assert counts == sorted(counts)
    assert {0, 1, 2} == set(counts)


@pytest.mark.parametrize("length", range(len(MAGIC)))
def test_cut_within_the_magic_it_is_no_recording(recording, length):
    recording.write_bytes(recording.read_bytes()[:length])

    with pytest.raises(UnreadableInput, match="is not a Lowwater recording"):
        load(recording)


def test_any_flipped_byte_is_refused_or_leaves_the_rest_whole(recording):
    whole = recording.read_bytes()
    refused = 0
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        recording.write_bytes(damaged)
        try:
            assert len(load(recording).samples) <= 2
        except UnreadableInput:
            refused += 1

    # Only a length that now points behind the end looks like a torn tail.
    assert refused > 0.8 * len(whole)


def test_a_foreign_file_is_refused_with_what_it_begins_with(tmp_path):
    (tmp_path / "notes.txt").write_text("epoch 1: loss 0.3")

    with pytest.raises(UnreadableInput, match=r"is not a Lowwater recording .*b'epoch 1:'"):
        load(tmp_path / "notes.txt")


def test_a_future_format_asks_for_an_upgrade(recording):
    data = bytearray(recording.read_bytes())
    data[len(MAGIC) - 1] = 9
    recording.write_bytes(data)

    with pytest.raises(UnreadableInput, match=r"newer Lowwater.*format 9.*upgrade"):
        load(recording)


def test_a_record_of_an_unknown_kind_asks_for_an_upgrade(recording):
    import msgspec

    unknown = frame(msgspec.msgpack.encode(["prophecy", 1]))
    recording.write_bytes(recording.read_bytes() + unknown)

    with pytest.raises(UnreadableInput, match="cannot read"):
        load(recording)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/nowhere/absent.lw", r"cannot read /nowhere/absent.lw .*No such file"),
        ("/", "is not a regular file"),
        ("/dev/zero", "is not a regular file"),
    ],
)
def test_what_cannot_be_read_back_is_refused(path, sentence):
    with pytest.raises(UnreadableInput, match=sentence):
        load(path)


def test_the_supervisor_appends_behind_a_torn_frame(recording):
    recording.write_bytes(recording.read_bytes()[:-3])

    assert (
        append_after_end(str(recording), [SeenOutside(2, 77), Ended(3, None, 9, True, 99)]) is None
    )

    timeline = load(recording)
    assert len(timeline.samples) == 2
    assert timeline.notes == ()
    assert timeline.outside[0].anon_bytes == 77
    assert (timeline.ending.signal, timeline.ending.out_of_memory) == (9, True)


def test_a_follower_sees_each_record_once_while_the_file_grows(tmp_path):
    path = tmp_path / "run.lw"
    follower = Follower(str(path))
    assert [*follower.new_records()] == []
    data = MAGIC + b"".join(frame(encode(Noted(i, f"note {i}"))) for i in range(20))
    seen = []
    for end in range(0, len(data) + 1, 7):
        path.write_bytes(data[:end])
        seen += [record.text for record in follower.new_records()]
    path.write_bytes(data)
    seen += [record.text for record in follower.new_records()]

    assert seen == [f"note {i}" for i in range(20)]


def test_what_became_of_a_repair_replaces_what_was_said_of_it_before(recording):
    waiting = Mending("LW205", "gradient-registry", "TensorFlow", MendState.WAITING, "not yet")
    applied = Mending("LW205", "gradient-registry", "TensorFlow", MendState.APPLIED, "2.21.0")
    append_after_end(str(recording), [Mended([waiting]), Mended([applied])])

    assert load(recording).mended == (applied,)


def test_experiments_behind_the_first_run_are_read_back(recording):
    measured = Measured(Kind.LEAK, "epoch", "train.py:9", 12, 4000, (3900, 4100), "", 8.5)
    changed = Experiment(
        "without your callbacks",
        "stops",
        "callbacks",
        measured=measured,
        difference=Difference(Effect.STOPS, 1.0),
        codes=("LW101",),
        covers=("containers",),
        places=("train.py:7-19",),
    )
    experiments = Experiments((Experiment("as it is", "leaks", measured=measured), changed), 42.0)

    append_after_end(str(recording), [Experimented(msgspec.to_builtins(experiments))])

    assert load(recording).experiments == experiments
    assert len(load(recording).samples) == 2


def test_experiments_of_another_release_ask_for_an_upgrade(recording):
    append_after_end(str(recording), [Experimented({"rows": 3})])

    with pytest.raises(UnreadableInput, match="cannot read"):
        load(recording)
