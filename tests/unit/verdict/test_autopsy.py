"""Leak, too big or fragmented: each with its innocent twin, and told runs as they would end."""

# ruff: noqa: C408 - what is known reads best as arguments

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowwater.model import Ending, Kind, OutsideSample, Unit, Verdict, gauges
from lowwater.model.autopsy import LimitSeen, Manner, Pool, Scene
from lowwater.model.holding import Holding
from lowwater.model.out_of_memory import AllocationRequest
from lowwater.testing import a_run
from lowwater.verdict import judge
from lowwater.verdict.autopsy import about_caught, autopsy_of, autopsy_of_scene
from lowwater.verdict.shortage import Shortage
from lowwater.verdict.shortage_rules import decide

MIB = 1 << 20
EPOCH = Unit(1, "epoch")


def a_verdict(kind, mib=0, rounds=10, place="host"):
    return Verdict(kind, "it was told so", EPOCH, rounds, round(mib * MIB), place=place)


def facts(**known):
    """In MiB."""
    plain = ("growth", "climbs", "was_killed", "has_rounds", "name", "rises")
    sizes = {name: value * MIB for name, value in known.items() if name not in plain}
    return Shortage(**sizes, **{name: known[name] for name in plain if name in known})


LEAK = a_verdict(Kind.LEAK, 8)
FLAT = a_verdict(Kind.FLAT)
UNSURE = a_verdict(Kind.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("known", "manner"),
    [
        # What grew is what is missing; the twin would not have fitted at the start either.
        (dict(limit=100, in_use=98, requested=4, growth=LEAK, grown=80), Manner.LEAK),
        (dict(limit=100, in_use=98, requested=40, growth=LEAK, grown=8), Manner.TOO_BIG),
        # A kill says no amounts: the leak has come from the first rounds to the limit, or has not.
        (dict(limit=100, early=20, was_killed=True, growth=LEAK, grown=70), Manner.LEAK),
        (dict(limit=1000, early=20, was_killed=True, growth=LEAK, grown=70), Manner.TOO_BIG),
        # Enough is free and no piece is large enough; the twin asks for more than is free.
        (dict(limit=100, in_use=40, free=60, largest_free=10, requested=30), Manner.FRAGMENTED),
        (
            dict(limit=100, in_use=40, kept=40, free=60, largest_free=10, requested=70),
            Manner.TOO_BIG,
        ),
        # A list that was built in a loop and then thinned; the twin leaks until little is left.
        (
            dict(limit=100, in_use=40, free=60, largest_free=10, requested=30, growth=LEAK,
                 grown=40),
            Manner.FRAGMENTED,
        ),
        (
            dict(limit=100, in_use=90, free=10, largest_free=4, requested=6, growth=LEAK, grown=80),
            Manner.LEAK,
        ),
        (dict(limit=100, requested=120, growth=LEAK, grown=50), Manner.TOO_BIG),
        (dict(limit=100, requested=90, lowest=20, in_use=80, kept=80), Manner.TOO_BIG),
        # The step takes what is left, and has given it back; the twin rises round by round.
        (dict(limit=100, in_use=90, kept=40, requested=30, free=10, growth=UNSURE), Manner.TOO_BIG),
        (
            dict(limit=100, in_use=90, kept=90, requested=12, free=10, growth=UNSURE,
                 rises=(10 * MIB, 10 * MIB, 10 * MIB)),
            Manner.INCONCLUSIVE,
        ),
        (dict(limit=100, growth=FLAT, was_killed=True), Manner.TOO_BIG),
        (dict(limit=100, was_killed=True, climbs=True), Manner.INCONCLUSIVE),
        (dict(limit=100, was_killed=True), Manner.TOO_BIG),
        (dict(growth=a_verdict(Kind.FRAGMENTED), limit=100, was_killed=True), Manner.FRAGMENTED),
        # The error says nothing, and much is free.
        (dict(limit=100, in_use=10, free=90), Manner.INCONCLUSIVE),
        (dict(limit=100, in_use=60, free=40, has_rounds=False, requested=10), Manner.INCONCLUSIVE),
        # Others have taken the machine.
        (
            dict(name="the machine's memory", limit=1000, own_peak=100, was_killed=True),
            Manner.INCONCLUSIVE,
        ),
        ({}, Manner.INCONCLUSIVE),
    ],
)  # fmt: skip
def test_each_end_has_its_word(known, manner):
    found, because, asked = decide(facts(**known))

    assert found is manner, because
    assert because
    # The rule that has answered is the last that was asked.
    assert not any(question.answer for question in asked[:-1])


SIZES = st.one_of(st.none(), st.integers(0, 1 << 40))


@given(
    requested=SIZES, limit=SIZES, in_use=SIZES, kept=SIZES, free=SIZES, largest_free=SIZES,
    lowest=SIZES, early=SIZES, own_peak=SIZES,
    growth=st.sampled_from([None, LEAK, FLAT, UNSURE, a_verdict(Kind.FRAGMENTED)]),
    grown=st.integers(0, 1 << 40), climbs=st.booleans(), was_killed=st.booleans(),
)  # fmt: skip
def test_every_story_has_an_answer_that_its_numbers_allow(**known):
    told = Shortage(**known)
    manner, because, _ = decide(told)

    assert because
    if manner is Manner.LEAK:
        assert told.growth is LEAK
        assert told.grown > 0
    if manner is Manner.FRAGMENTED and told.growth is not None:
        heap = told.growth.kind is Kind.FRAGMENTED
        assert heap or told.largest_free < told.requested <= told.free
    if told.requested is not None and told.limit is not None and told.requested > told.limit:
        assert manner is Manner.TOO_BIG


KILLED = Ending(60.0, None, signal=9, out_of_memory=True, peak_rss_bytes=600 * MIB)
FAILED = Ending(60.0, 1, out_of_memory=True, error="ResourceExhaustedError: OOM when …")


def judged(timeline):
    _, by_unit = judge(timeline)
    return autopsy_of(timeline, by_unit)


def in_pool(run, ending=FAILED, **scene):
    """A run that failed under the pool of the host, of 100 MiB."""
    told = {"request": AllocationRequest("ResourceExhaustedError", 4 * MIB, where="train.py:8")}
    return replace(run.timeline(), ending=ending, scene=Scene(60.0, **{**told, **scene}))


def a_pool(in_use, *free, limit=100):
    return Pool(
        "cpu", round((in_use + sum(free)) * MIB), round(in_use * MIB), round(sum(free) * MIB),
        round(max(free, default=0) * MIB), len(free), limit * MIB,
    )  # fmt: skip


def test_pool_that_a_leak_fills_is_a_leak_whatever_malloc_seems_to_do():
    run = a_run(12).holds(gauges.POOL_IN_USE, 2).grows(gauges.POOL_IN_USE, mib=8)

    found = judged(in_pool(run, pool=a_pool(98, 2), in_use_bytes={"pool": 98 * MIB}))

    assert found.manner is Manner.LEAK
    assert found.because.startswith("memory grew by 8.0 MiB in each epoch")
    assert found.limit_name == "TensorFlow's pool on the host"


def test_pool_that_one_step_fills_is_too_big_and_the_batch_is_at_most_in_proportion():
    run = a_run(12).holds(gauges.POOL_IN_USE, 40)
    request = AllocationRequest("…", 30 * MIB, where="train.py:8", call="fit", batch_size=64)
    scene = {"pool": a_pool(90, 10), "in_use_bytes": {"pool": 40 * MIB}, "request": request}

    found = judged(in_pool(run, **scene))

    assert found.manner is Manner.TOO_BIG
    # 60 MiB are left, and 64 of a batch have taken 50 and asked for 30.
    assert found.largest_batch == 48
    assert found.commands == ('lowwater footprint --limit "100.0 MiB" YOUR_SCRIPT.py',)


def test_run_that_was_killed_while_it_leaked_in_a_control_group():
    run = replace(
        a_run(20).grows(mib=25).timeline(),
        ending=KILLED,
        outside=tuple(OutsideSample(float(at), (180 + 8 * at) * MIB) for at in range(60)),
        scene=Scene(60.0, limits=(LimitSeen("the control group", 700 * MIB),)),
    )

    found = judged(run)

    assert (found.manner, found.limit_bytes) == (Manner.LEAK, 700 * MIB)
    assert "was killed" in found.held_note


def test_run_that_was_killed_by_one_large_step_after_level_rounds():
    run = replace(
        a_run(20).timeline(),
        ending=KILLED,
        scene=Scene(60.0, limits=(LimitSeen("the control group", 700 * MIB),)),
    )

    assert judged(run).manner is Manner.TOO_BIG


@pytest.mark.parametrize("ending", [None, Ending(60.0, 0), Ending(60.0, 1, error="ValueError: no")])
def test_run_that_did_not_run_out_of_memory_has_none(ending):
    assert judged(replace(a_run(12).grows(mib=4).timeline(), ending=ending)) is None


def test_where_only_the_failure_was_seen_a_leak_is_never_said():
    scene = Scene(
        1.0,
        AllocationRequest("MemoryError", 10 * MIB),
        limits=(LimitSeen("the control group", 100 * MIB, 95 * MIB),),
        held=(Holding("array", 3, 80 * MIB, "host", "`kept`", "train.py:3"),),
    )

    assert autopsy_of_scene(scene).manner is Manner.INCONCLUSIVE
    larger = replace(scene, request=AllocationRequest("MemoryError", 200 * MIB))
    assert autopsy_of_scene(larger).manner is Manner.TOO_BIG


def test_caught_errors_are_told_but_for_the_last_one():
    run = replace(
        a_run(12).timeline(), no_room=("OOM when …", "train.py:9"), times_no_room=3,
        ending=Ending(60.0, 0),
    )  # fmt: skip

    [told] = about_caught(run)
    assert told.startswith("the program caught 3 out-of-memory errors from TensorFlow")
    assert "train.py:9" in told
    uncaught = Scene(1.0, AllocationRequest("ResourceExhaustedError: OOM when …"))
    failed = replace(run, ending=FAILED, scene=uncaught)
    assert "caught 2 " in about_caught(failed)[0]
    assert not about_caught(replace(run, times_no_room=0))
