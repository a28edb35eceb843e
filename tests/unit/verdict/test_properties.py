"""What must hold for every series, and for every innocent shape whatever its numbers."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from lowwater.model import Collection, Kind, Sample, Timeline, Unit
from lowwater.testing import a_run
from lowwater.verdict import book, judge

# The same examples on every run: a red build must mean a change, not bad luck.
repeatably = settings(derandomize=True, deadline=None, max_examples=30)

seeds = st.integers(0, 10_000)
rounds = st.integers(12, 60)
noises = st.sampled_from([0.0, 0.01, 0.1, 0.5])
any_bytes = st.integers(0, 1 << 40)


def kind_of(run):
    return judge(run.timeline())[0].kind


@st.composite
def any_timeline(draw):
    count = draw(st.integers(0, 400))
    steps = draw(st.lists(st.integers(1, 40), min_size=count, max_size=count))
    levels = draw(st.lists(any_bytes, min_size=count, max_size=count))
    names = draw(st.sampled_from([("heap_used",), ("rss_anon",), ("GPU:0 in use", "heap_used")]))
    samples, ordinal = [], -1
    for index, (step, level) in enumerate(zip(steps, levels, strict=True)):
        ordinal += step
        gauges = {name: level // (1 + place) for place, name in enumerate(names)}
        samples.append(Sample(index % 2, ordinal, 0.1 * index, gauges))
    chosen = draw(st.lists(st.sampled_from(samples), max_size=8)) if samples else []
    collections = [
        Collection(
            s.unit_id, s.ordinal, s.elapsed_s, *draw(st.tuples(*[st.integers(0, 1 << 40)] * 2))
        )
        for s in chosen
    ]
    units = (Unit(0, draw(st.sampled_from(["epoch", "iteration", "time"]))), Unit(1, "predict"))
    return Timeline(units=units, samples=tuple(samples), collections=tuple(collections))


@repeatably
@given(any_timeline())
def test_every_timeline_gets_a_verdict_with_a_reason(timeline):
    verdict, by_unit = judge(timeline)
    ledger = book(timeline, verdict.unit)

    assert verdict.because
    assert len(by_unit) == len(timeline.units)
    assert all(len(row.series) <= 60 for row in ledger.rows)


@repeatably
@given(rounds, st.floats(0.0, 4.0), st.floats(0.0, 4.0), seeds)
def test_a_constant_on_top_changes_no_growth_and_no_accusation(count, slope, noise, seed):
    run = a_run(count).grows(mib=slope).noise(mib=noise, seed=seed)

    plain, _ = judge(run.timeline())
    lifted, _ = judge(run.holds("mmap_used", mib=3000).timeline())

    assert (plain.kind is Kind.LEAK) == (lifted.kind is Kind.LEAK)
    assert plain.growth_bytes_per_unit == lifted.growth_bytes_per_unit


@repeatably
@given(rounds, st.floats(0.25, 8.0), st.floats(0.0, 1.0), seeds, st.integers(2, 16))
def test_a_leak_that_is_scaled_up_stays_a_leak(count, slope, noise, seed, factor):
    run = a_run(count).grows(mib=slope).noise(mib=slope * noise, seed=seed)
    scaled = a_run(count).grows(mib=slope * factor).noise(mib=slope * noise * factor, seed=seed)

    small, _ = judge(run.timeline())
    large, _ = judge(scaled.timeline())

    assert small.kind is not Kind.LEAK or large.kind is Kind.LEAK


@repeatably
@given(rounds, st.floats(0.5, 8.0), seeds, st.floats(0.01, 100.0))
def test_the_clock_does_not_matter_to_rounds(count, slope, seed, seconds):
    run = a_run(count).grows(mib=slope).noise(mib=1, seed=seed)

    first, _ = judge(run.timeline())
    slower, _ = judge(replace(run, seconds=seconds).timeline())

    assert first == slower


@repeatably
@given(st.integers(6, 60), st.floats(1.0, 64.0))
def test_growth_that_is_regular_is_a_leak_from_six_rounds_on(count, slope):
    assert kind_of(a_run(count).grows(mib=slope).collects([4])) is Kind.LEAK


@repeatably
@given(rounds, st.floats(1.0, 400.0), st.floats(0.1, 0.9), noises, seeds)
def test_a_single_jump_is_never_a_leak(count, size, where, noise, seed):
    run = a_run(count).jumps(mib=size, at=round(count * where)).noise(mib=noise, seed=seed)

    assert kind_of(run) is not Kind.LEAK


@repeatably
@given(rounds, st.floats(8.0, 400.0), st.floats(0.2, 0.75), noises, seeds)
def test_a_ramp_that_stopped_is_never_a_leak(count, size, share, noise, seed):
    run = (
        a_run(count).fills(mib=size, until=max(2, round(count * share))).noise(mib=noise, seed=seed)
    )

    assert kind_of(run) is not Kind.LEAK


@repeatably
@given(rounds, st.floats(20.0, 400.0), st.floats(0.05, 0.5), noises, seeds)
def test_a_rise_that_dies_away_is_never_a_leak(count, size, share, noise, seed):
    run = a_run(count).saturates(mib=size, rounds=share * count).noise(mib=noise, seed=seed)

    assert kind_of(run) is not Kind.LEAK


@repeatably
@given(st.integers(20, 60), st.floats(4.0, 64.0), st.integers(3, 6), noises, seeds)
def test_a_sawtooth_is_never_a_leak(count, tooth, every, noise, seed):
    run = a_run(count).swings(mib=tooth, every=every).noise(mib=noise, seed=seed)

    assert kind_of(run) is not Kind.LEAK


@repeatably
@given(rounds, st.floats(1.0, 30.0), st.integers(4, 8), st.integers(2, 4))
def test_garbage_that_was_collected_is_never_a_leak(count, garbage, first, gap):
    run = a_run(count).leaves_garbage(mib=garbage).collects(range(first, count + 1, gap))

    assert kind_of(run) is not Kind.LEAK


@repeatably
@given(rounds, st.floats(0.5, 30.0), st.floats(0.2, 3.0), st.integers(4, 6), st.integers(2, 3))
def test_a_leak_under_garbage_is_told_by_its_live_bytes(count, live, garbage, first, gap):
    run = a_run(count).grows(mib=live).leaves_garbage(mib=garbage * live)
    verdict, _ = judge(run.collects(range(first, count + 1, gap)).timeline())

    assert verdict.kind is Kind.LEAK
    assert abs(verdict.growth_bytes_per_unit - live * 2**20) <= 0.05 * live * 2**20


@repeatably
@given(rounds, st.floats(0.0, 300.0), seeds)
def test_resident_memory_alone_is_never_a_leak(count, kept, seed):
    run = a_run(count).grows("heap_free", mib=kept / count).noise("heap_free", mib=3, seed=seed)

    assert kind_of(run.grows("rss_file", mib=kept / count)) is not Kind.LEAK
