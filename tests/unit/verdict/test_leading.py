"""Which unit the report leads with, and which units overrule others."""

from dataclasses import replace

from lowwater.model import Kind, OutsideSample, Timeline, Unit, Verdict
from lowwater.testing import a_run, together
from lowwater.verdict import judge
from lowwater.verdict.cross_unit import Heard, knows_better

MIB = 1 << 20


def kinds(verdicts):
    return [verdict.kind for verdict in verdicts]


def test_the_coarsest_unit_that_leaks_leads():
    leading, by_unit = judge(
        together(a_run(120, unit="predict").grows(mib=1), a_run().grows(mib=10))
    )

    assert kinds(by_unit) == [Kind.LEAK, Kind.LEAK]
    assert leading.unit.name == "epoch"
    assert leading.growth_bytes_per_unit == 10 * MIB


def test_of_units_with_as_many_rounds_the_familiar_one_leads():
    predict, epoch = a_run(11, unit="predict").grows(mib=4), a_run(12).grows(mib=4)

    assert judge(together(predict, epoch))[0].unit.name == "epoch"


def test_a_unit_that_was_sampled_for_half_of_the_time_is_not_coarser_for_that():
    calls = a_run(7, unit="predict", seconds=30).grows(mib=4)
    loop = a_run(14, unit="iteration", where="train.py:9", seconds=60).grows(mib=4)

    assert judge(together(calls, loop))[0].unit.name == "iteration"


def test_garbage_that_was_collected_after_the_last_sample_of_a_unit_is_no_leak_of_it():
    calls = a_run(45, unit="train_on_batch", seconds=45).grows(mib=3)
    loop = a_run(50, unit="iteration", seconds=50).leaves_garbage(mib=3).collects(at=[50])

    leading, (of_calls, of_loop) = judge(together(calls, loop))

    assert leading is of_loop
    assert (of_calls.kind, of_loop.kind) == (Kind.SAWTOOTH, Kind.SAWTOOTH)
    assert of_calls.because == (
        "host memory in use rose by 3.0 MiB per train_on_batch call, but the iterations in that "
        "time show no growth"
    )


def test_leak_that_collections_leave_is_one_for_all_units():
    calls = a_run(45, unit="train_on_batch", seconds=45).grows(mib=3)
    loop = a_run(50, unit="iteration", seconds=50).grows(mib=3).collects(at=[50])

    leading, by_unit = judge(together(calls, loop))

    assert leading.kind is Kind.LEAK
    assert kinds(by_unit) == [Kind.LEAK, Kind.LEAK]


def test_a_coarser_unit_leads_also_where_it_ends_earlier():
    epochs = a_run(12, seconds=50).grows(mib=40)
    steps = a_run(120, unit="predict", seconds=60).grows(mib=4)

    assert judge(together(epochs, steps))[0].unit.name == "epoch"


def test_growth_that_falls_back_within_a_coarser_round_is_no_leak():
    leading, by_unit = judge(together(a_run(12), a_run(240, unit="predict").grows(mib=1)))

    assert leading.kind is Kind.FLAT
    assert leading.unit.name == "epoch"
    assert kinds(by_unit) == [Kind.FLAT, Kind.SAWTOOTH]
    assert by_unit[1].because == (
        "host memory in use rose by 1.0 MiB per predict call, but it falls back within each epoch"
    )


def test_a_coarser_unit_with_too_few_rounds_does_not_overrule():
    leading, _ = judge(together(a_run(3, unit="fit"), a_run(30).grows(mib=4)))

    assert (leading.kind, leading.unit.name) == (Kind.LEAK, "epoch")


def test_a_coarser_unit_that_was_there_for_a_part_only_does_not_overrule():
    fits = a_run(12, unit="fit", seconds=20)

    leading, _ = judge(together(fits, a_run(60, unit="predict", seconds=60).grows(mib=4)))

    assert (leading.kind, leading.unit.name) == (Kind.LEAK, "predict")


def test_a_coarser_unit_whose_noise_could_hide_the_growth_does_not_overrule():
    noisy = a_run(12).noise(mib=40, seed=1)

    leading, _ = judge(together(noisy, a_run(600, unit="predict").grows(mib=0.2)))

    assert leading.kind is Kind.LEAK


def test_data_that_is_loaded_before_training_is_no_leak():
    loading = a_run(50, unit="iteration", where="load.py:3", seconds=40).grows(mib=4)
    training = a_run(12, start_s=40, seconds=20)

    leading, by_unit = judge(together(loading, training))

    assert (leading.kind, leading.unit.name) == (Kind.FLAT, "epoch")
    assert by_unit[0].kind is Kind.CACHE
    assert by_unit[0].because == (
        "host memory in use rose by 4.0 MiB per iteration, but stopped before training began: "
        "the program was loading data"
    )


def test_a_leak_of_the_training_is_not_excused_by_a_short_evaluation_after_it():
    training = a_run(20, seconds=50).grows(mib=4)
    evaluation = a_run(12, unit="evaluate", start_s=50, seconds=10)

    assert judge(together(training, evaluation))[0].kind is Kind.LEAK


def test_the_clock_is_heard_only_when_nobody_else_can_tell():
    clock = a_run(60, unit="time").grows(mib=1)

    assert judge(together(clock, a_run(12)))[0].unit.name == "epoch"
    assert judge(together(clock, a_run(2)))[0].unit.name == "time"


def test_the_unit_in_which_memory_was_seen_to_rise_explains_it():
    writing = a_run(40, unit="iteration", where="prepare.py:5", seconds=60)
    reading = a_run(14, unit="iteration", where="train.py:9", start_s=60, seconds=30)

    leading, _ = judge(together(writing, reading.grows("rss_file", mib=24)))

    assert leading.unit.where == "train.py:9"
    assert "mapped files" in leading.because


def test_a_short_part_does_not_speak_for_the_run():
    part = a_run(20, unit="predict", seconds=5)
    rest = a_run(4, start_s=5, seconds=100).grows(mib=10)

    assert judge(together(part, rest))[0].kind is Kind.INCONCLUSIVE


def test_the_worst_place_is_told():
    run = a_run(12).fills(mib=60, until=5).holds("GPU:0 in use", mib=100)

    host, _ = judge(run.timeline())
    device, _ = judge(run.grows("GPU:0 in use", mib=8).timeline())

    assert (host.kind, host.place) == (Kind.CACHE, "host")
    assert (device.kind, device.place) == (Kind.LEAK, "GPU:0")


def test_an_empty_timeline_proves_nothing_and_says_what_to_do():
    leading, by_unit = judge(Timeline())

    assert by_unit == ()
    assert leading.kind is Kind.INCONCLUSIVE
    assert 'lowwater.boundary("episode")' in leading.because


def test_a_unit_without_samples_proves_nothing():
    timeline = a_run(0).timeline()

    assert judge(timeline)[1][0].because == "no epochs were measured"


def seen_from_outside(*anon_mib):
    return Timeline(outside=tuple(OutsideSample(t, mib * MIB) for t, mib in enumerate(anon_mib)))


def test_a_rise_seen_only_from_outside_proves_nothing_and_says_what_to_do():
    leading, _ = judge(seen_from_outside(*range(100, 160)))

    assert leading.kind is Kind.INCONCLUSIVE
    assert leading.because == (
        "no round trips seen: resident memory changed by 59.0 MiB, which may be loading or "
        'growth; mark the round trips with lowwater.boundary("episode") to judge'
    )


def test_a_level_seen_only_from_outside_is_flat():
    assert judge(seen_from_outside(*[100] * 30))[0].kind is Kind.FLAT


def test_data_that_is_loaded_before_three_epochs_is_no_leak_either():
    """Three epochs prove nothing, but the loop was over before there was a model."""
    loading = a_run(40, unit="iteration", where="load.py:3", seconds=4).grows(mib=0.75)
    training = a_run(3, start_s=5, seconds=3)

    leading, _ = judge(together(loading, training))

    assert leading.is_leak is not True


def test_a_training_loop_that_leaked_is_not_acquitted_by_flat_epochs_after_it():
    """A custom loop around a model, then a longer `fit`: the loop leaked all the same."""
    model = a_run(1, unit="model", seconds=1)
    loop = a_run(16, unit="iteration", where="tape.py:8", start_s=2, seconds=4).grows(mib=2)
    fit = a_run(12, start_s=8, seconds=20).holds("functions", 0)

    leading, _ = judge(together(model, loop.holds("functions", 0), fit))

    assert (leading.kind, leading.unit.where) == (Kind.LEAK, "tape.py:8")


def test_a_unit_with_as_many_rounds_is_not_coarser():
    """One `predict` call in each epoch: that its marks are level says nothing about epochs."""
    leading, by_unit = judge(together(a_run(11, unit="predict"), a_run(13).grows(mib=2)))

    assert kinds(by_unit)[1] is Kind.LEAK
    assert leading.unit.name == "epoch"


def test_an_inner_loop_does_not_speak_for_an_outer_one_that_rose_in_each_round():
    outer = a_run(4, unit="iteration", where="search.py:9").grows(mib=8)
    inner = a_run(40, unit="iteration", where="search.py:12")

    leading, _ = judge(together(outer, inner))

    assert (leading.kind, leading.unit.where) == (Kind.INCONCLUSIVE, "search.py:9")


def test_a_unit_with_too_few_rounds_does_not_outrank_one_that_is_sure():
    """Ten flat epochs, and a second model at the very end."""
    models, epochs = a_run(2, unit="model", seconds=60), a_run(10, start_s=5, seconds=20)

    assert judge(together(models, epochs))[0].kind is Kind.FLAT


def test_a_search_with_one_epoch_in_each_trial_is_told_by_its_models():
    epochs, models = a_run(14).grows(mib=4), a_run(14, unit="model").grows(mib=4)

    assert judge(together(epochs, models))[0].unit.name == "model"


def test_of_two_that_cannot_tell_the_outer_loop_speaks_where_it_rises_too():
    steps = a_run(30, unit="train_on_batch", seconds=10).grows(mib=0.5).jumps(mib=-7, at=16)
    episodes = a_run(5, unit="iteration", where="train.py:9", seconds=10).grows(mib=2.5)

    leading, by_unit = judge(together(steps, episodes))

    assert kinds(by_unit) == [Kind.INCONCLUSIVE, Kind.INCONCLUSIVE]
    assert leading.unit.name == "iteration"


def test_of_two_that_cannot_tell_an_outer_loop_of_too_few_rounds_is_passed_over():
    steps = a_run(30, unit="train_on_batch", seconds=10).grows(mib=0.5).jumps(mib=-7, at=16)
    folds = a_run(3, unit="iteration", where="train.py:9", seconds=10).grows(mib=2.5)

    assert judge(together(steps, folds))[0].unit.name == "train_on_batch"


def test_an_inner_loop_that_trickles_by_as_much_does_not_know_better_than_one_that_leaks():
    """The tree of a game search: 781 bytes a move, and 221 KiB in each round of games."""
    moves = Verdict(Kind.TRICKLE, "", Unit(1, "predict"), 9508, 781, (700, 860))
    rounds = Verdict(Kind.LEAK, "", Unit(2, "iteration"), 30, 226_482, (-7_000, 271_000))
    of_moves, of_rounds = (Heard(one, one.unit, 0.0, 60.0, 0, False) for one in (moves, rounds))

    assert not knows_better(of_moves, of_rounds)
    few_bytes = replace(of_moves, verdict=replace(moves, interval_bytes=(7, 9)))
    assert knows_better(few_bytes, of_rounds)


def test_a_coarse_unit_that_trickles_still_knows_that_the_fine_one_falls_back():
    epochs = a_run(14, seconds=60).grows(mib=0.01)
    steps = a_run(140, unit="train_on_batch", seconds=60).grows(mib=1)

    assert judge(together(steps, epochs))[0].is_leak is False
