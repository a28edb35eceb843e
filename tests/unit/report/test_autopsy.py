"""The block about an out-of-memory, as it is read: on the screen, in JSON, and behind diagnose."""

import json
from dataclasses import replace

import jsonschema
import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lowwater.model import Diagnosis, Ending, Kind, Unit, Verdict
from lowwater.model.autopsy import Autopsy, LimitSeen, Manner, Pool, Scene
from lowwater.model.autopsy_text import lines
from lowwater.model.experiment import Experiment, Experiments, Measured
from lowwater.model.holding import Holding
from lowwater.model.out_of_memory import AllocationRequest
from lowwater.model.printable import printable
from lowwater.recording.reader import to_timeline
from lowwater.recording.records import Ended, Failed, FoundNoRoom, RanOut, decode, encode
from lowwater.report import json as as_json
from lowwater.report.text import render
from lowwater.verdict.autopsy import autopsy_of_scene

MIB = 1 << 20
SCENE = Scene(
    12.5,
    AllocationRequest(
        "ResourceExhaustedError: OOM when allocating tensor …", 32 * MIB, (2048, 4096), "float",
        "gradient_tape/dense_1/MatMul", "GPU_0_bfc", "GPU:0", "train.py:11", 2048, "fit",
    ),
    Pool("GPU_0_bfc", 100 * MIB, 90 * MIB, 10 * MIB, 4 * MIB, 11, 100 * MIB),
    {"GPU:0": 42 * MIB},
    (
        Holding("optimizer", 1, 24 * MIB, "GPU:0", "`model`", "train.py:8"),
        Holding("tensor", 12, 18 * MIB, "GPU:0", "`kept`", "train.py:9"),
        Holding("array", 1, 9 * MIB, "host", "`x`", "train.py:10"),
    ),
)  # fmt: skip
BLOCK = """\
Out of memory: too big
  One step needs at least 80.0 MiB, but only 58.0 MiB is left beside the 42.0
  MiB that stays in use.
  Asked for  32.0 MiB (float shape [2048, 4096]) by MatMul at train.py:11, in
             fit with batch size 2048
  In use     90.0 MiB of 100.0 MiB on GPU:0; 48.0 MiB of it belonged to the step
             that failed
  Held by    `model` (train.py:8): optimizer, 24.0 MiB on GPU:0; `kept`
             (train.py:9): 12 tensors, 18.0 MiB on GPU:0
  Free       10.0 MiB in 11 pieces, the largest 4.0 MiB
  Batch      at most about 1484 would have fitted, instead of 2048
  Find the largest batch that fits."""
ENDING = Ending(12.5, 1, out_of_memory=True, error="ResourceExhaustedError: OOM …")
UNSURE = Verdict(Kind.INCONCLUSIVE, "too few", Unit(1, "epoch"))


def a_diagnosis(autopsy):
    return Diagnosis(UNSURE, autopsy=autopsy, ending=ENDING, environment={"script": "train.py"})


def test_whole_block():
    assert str(autopsy_of_scene(SCENE)) == BLOCK


def test_why_lists_the_rules_up_to_the_one_that_decided():
    screen = render(a_diagnosis(autopsy_of_scene(SCENE)), why=True)
    [block] = [part for part in screen.split("\n\n") if part.startswith("How this was decided")]

    answers = [line.split()[-1] for line in block.splitlines()[1:]]
    assert answers == ["no"] * 6 + ["yes"]
    assert "Does one step need more than the rest leaves free?" in block.splitlines()[-1]
    assert "questions" not in autopsy_of_scene(SCENE).to_dict()


def test_block_stands_on_the_screen_before_what_to_do():
    screen = render(a_diagnosis(replace(autopsy_of_scene(SCENE), commands=("type this",))))
    block, steps = screen.split("What to do next")

    assert block.startswith(BLOCK.rsplit("\n", 1)[0])
    assert steps.split("\n")[1:3] == ["  1. Find the largest batch that fits:", "       type this"]


def test_diagnose_shows_it_where_the_program_fails():
    base = Measured(problem="ResourceExhaustedError", kind=Kind.INCONCLUSIVE)
    rows = (Experiment("as it is", "fails", measured=base),)
    told = replace(a_diagnosis(autopsy_of_scene(SCENE)), experiments=Experiments(rows))

    assert "Out of memory: too big" in render(told)
    assert "No diagnosis" not in render(told)
    assert "No diagnosis" in render(replace(told, autopsy=None))


def test_json_follows_its_schema_with_and_without():
    for autopsy in (None, autopsy_of_scene(SCENE), Autopsy(Manner.INCONCLUSIVE, "…", "host")):
        told = json.loads(as_json.render(a_diagnosis(autopsy)))
        jsonschema.validate(told, as_json.schema())
        assert (told["autopsy"] is None) == (autopsy is None)


def test_recording_keeps_what_was_seen_and_counts_what_was_caught():
    ended = Ended(60_000_000, 1, None, False, None)
    records = [
        FoundNoRoom(1, "OOM first", "train.py:3"),
        FoundNoRoom(2, "OOM later", None),
        Failed("ResourceExhaustedError: OOM", True),
        RanOut(SCENE),
        RanOut(Scene(60.0, limits=(LimitSeen("the control group", MIB),))),
        ended,
    ]

    timeline = to_timeline(decode(encode(one)) for one in records)

    assert timeline.scene == replace(SCENE, limits=(LimitSeen("the control group", MIB),))
    assert (timeline.no_room, timeline.times_no_room) == (("OOM first", "train.py:3"), 2)


SCHEMA = {"$defs": as_json.schema()["$defs"], "$ref": "#/$defs/autopsy"}
NUMBERS = st.integers(-(1 << 53), 1 << 53)
TEXTS = st.text(max_size=60)
HOLDINGS = st.builds(Holding, TEXTS, NUMBERS, NUMBERS, TEXTS, TEXTS)
SCENES = st.builds(
    Scene,
    elapsed_s=st.floats(0, 1e6),
    request=st.none()
    | st.builds(
        AllocationRequest, TEXTS, st.none() | NUMBERS,
        st.none() | st.lists(NUMBERS, max_size=9).map(tuple),
        st.none() | TEXTS, st.none() | TEXTS, st.none() | TEXTS,
        st.sampled_from(["host", "GPU:0", "\x1b[31m"]), st.none() | TEXTS, st.none() | NUMBERS,
        st.none() | TEXTS,
    ),
    pool=st.none()
    | st.builds(Pool, TEXTS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.none() | NUMBERS),
    in_use_bytes=st.dictionaries(st.sampled_from(["host", "pool", "GPU:0"]), NUMBERS),
    held=st.lists(HOLDINGS, max_size=30).map(tuple),
    limits=st.lists(
        st.builds(LimitSeen, TEXTS, NUMBERS, st.none() | NUMBERS), max_size=3
    ).map(tuple),
    notes=st.lists(TEXTS, max_size=3).map(tuple),
)  # fmt: skip


@settings(max_examples=60, phases=[Phase.generate, Phase.explicit, Phase.reuse])
@given(SCENES)
def test_any_scene_of_a_recording_is_told_in_few_printable_lines(scene):
    scene = msgspec.convert(msgspec.to_builtins(scene), Scene)
    timeline = to_timeline([RanOut(scene)])

    autopsy = autopsy_of_scene(timeline.scene)
    told = lines(autopsy)

    assert len(told) <= 20
    assert all(printable(line) == line for line in told)
    jsonschema.validate(json.loads(json.dumps(autopsy.to_dict())), SCHEMA)


@pytest.mark.parametrize("manner", Manner)
def test_every_answer_ends_with_what_to_do(manner):
    autopsy = Autopsy(manner, "it is told so", "host", advice="Do this", commands=("type this",))

    assert lines(autopsy)[-2:] == ["  Do this:", "    type this"]
