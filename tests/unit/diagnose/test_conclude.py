"""What experiments say together."""

from dataclasses import replace

from lowwater.diagnose.conclude import conclude, is_explained, still_leaks
from lowwater.model import Finding, Kind
from lowwater.model.experiment import Difference, Effect, Experiment, Measured, State


def tried(key, effect, share=0.0, *, blamed="", detail="", codes=()):  # noqa: PLR0913
    return Experiment(
        f"without {key}", "", key, detail, Measured(), Difference(effect, share), blamed, codes
    )


def with_covers(one, *keys):
    return replace(one, covers=keys)


def left_out(key, codes=()):
    return Experiment(f"without {key}", "not needed", key, codes=codes)


CALLBACKS = tried(
    "callbacks", Effect.STOPS, 1.0, blamed="the callback Saver (train.py:6)", codes=("LW101",)
)
FINDING = Finding("LW101", "callback-retention", "it grows", "stop it", "train.py:14")


def test_change_that_stops_the_growth_names_the_cause():
    conclusion = conclude([CALLBACKS], [])

    assert conclusion.sentences == (
        "The callback Saver (train.py:6) is the cause: without it, the growth is gone (100 %).",
    )


def test_two_causes_are_both_named_the_larger_first():
    models = tried("same-model", Effect.LESS, 0.3, blamed="building a new model for every fit")
    callback = tried("callbacks", Effect.LESS, 0.7, blamed="the callback Saver")

    first, second = conclude([models, callback], []).sentences

    assert first.startswith("The callback Saver is part of the cause: without it, 70 %")
    assert second.startswith(
        "Building a new model for every fit is part of the cause: without it, 30 %"
    )


def test_one_callback_is_told_in_the_place_of_all():
    one = tried("callbacks", Effect.STOPS, 1.0, blamed="the callback Saver", detail="Saver")
    other = tried("callbacks", Effect.SAME, blamed="the callback Logger", detail="Logger")

    assert conclude([CALLBACKS, one, other], []).sentences == (
        "The callback Saver is the cause: without it, the growth is gone (100 %).",
    )


def test_nothing_that_helps_is_said_plainly():
    [sentence] = conclude([tried("callbacks", Effect.SAME)], []).sentences

    assert sentence.startswith("No change stops the growth")


def test_line_that_explains_all_is_told_without_what_makes_its_items_smaller():
    batch = tried("one-batch", Effect.LESS, 0.48, blamed="the input pipeline")
    whole = with_covers(tried("containers", Effect.STOPS, 1.0, blamed="lists"), "one-batch")
    line = replace(whole, detail="train.py:9", blamed="`seen`", places=("train.py:9",))

    assert conclude([batch, whole, line], []).sentences == (
        "`seen` is the cause: without it, the growth is gone (100 %).",
    )


def test_two_lines_that_explain_all_together_leave_a_part_to_the_callback():
    callback = tried("callbacks", Effect.LESS, 0.5, blamed="the callback Saver")
    whole = with_covers(tried("containers", Effect.STOPS, 1.0, blamed="lists"), "callbacks")
    whole = replace(whole, places=("train.py:9", "train.py:20"))

    first, second = conclude([callback, whole], []).sentences

    assert {first.split(":")[0], second.split(":")[0]} == {
        "The callback Saver is part of the cause",
        "Lists is part of the cause",
    }


def failed(key, because):
    return replace(tried(key, Effect.FAILED), difference=Difference(Effect.FAILED, 0.0, because))


def test_program_that_fails_in_one_way_with_every_change_fails_when_it_is_run_again():
    because = "OSError: full (exit code 1)"

    sentences = conclude([failed("callbacks", because), failed("eager", because)], []).sentences

    assert sentences == (
        f"No change could be tried: the program fails when it is run again ({because}).",
        "Files that the first run wrote may be in the way: try --sandbox --fresh.",
    )


def test_changes_that_break_the_program_each_in_its_way_tell_nothing():
    both = [failed("callbacks", "IndexError (exit code 1)"), failed("eager", "ended by signal 6")]

    assert conclude(both, []).sentences == (
        "No change could be tried: the program fails with each of them.",
    )


def test_one_change_that_was_tried_is_enough_to_say_that_none_stops_it():
    some = [failed("callbacks", "IndexError (exit code 1)"), tried("eager", Effect.SAME)]

    [sentence] = conclude(some, []).sentences

    assert sentence.startswith("No change stops the growth")


def test_finding_is_confirmed_where_its_change_helps():
    assert conclude([CALLBACKS], [FINDING]).states == ((FINDING, State.CONFIRMED),)


def test_finding_is_rejected_where_its_cause_was_taken_away_without_a_difference():
    same = replace(tried("callbacks", Effect.SAME, codes=("LW101",)), rejects=("LW101",))

    assert conclude([same], [FINDING]).states == ((FINDING, State.REJECTED),)


def test_finding_is_not_rejected_by_a_change_that_may_leave_its_cause_in_place():
    same = tried("mended", Effect.SAME, codes=("LW101",))

    assert conclude([same], [FINDING]).states == ((FINDING, State.UNTESTED),)


def test_finding_that_nothing_speaks_about_is_untested():
    failed = tried("callbacks", Effect.FAILED, codes=("LW101",))

    for experiments in ([], [left_out("callbacks", ("LW101",))], [failed]):
        assert conclude(experiments, [FINDING]).states == ((FINDING, State.UNTESTED),)


def test_growth_is_explained_when_nearly_all_of_it_goes():
    half, rest = tried("a", Effect.LESS, 0.5), tried("b", Effect.LESS, 0.45)

    assert not is_explained([half])
    assert is_explained([half, rest])
    assert is_explained([CALLBACKS])


def test_part_of_a_factor_does_not_count_twice():
    part = tried("a", Effect.LESS, 0.5, detail="one")

    assert not is_explained([tried("a", Effect.LESS, 0.5), part])


def test_what_a_more_special_change_explains_is_not_told_twice():
    mended = tried("mended", Effect.LESS, 0.59, blamed="a known leak")
    eager = with_covers(tried("eager", Effect.LESS, 0.67, blamed="tracing"), "mended")

    sentence, rest = conclude([mended, eager], []).sentences

    assert sentence.startswith("A known leak is part of the cause: without it, 59 %")
    assert rest == "The other 41 % is not explained."
    assert not is_explained([mended, eager])


def test_rest_that_only_the_wider_change_explains_is_told_with_its_own_share():
    mended = tried("mended", Effect.LESS, 0.6, blamed="a known leak")
    models = with_covers(tried("same-model", Effect.STOPS, 1.0, blamed="new models"), "mended")

    first, second = conclude([mended, models], []).sentences

    assert first.startswith("A known leak is part of the cause: without it, 60 %")
    assert second.startswith("New models is part of the cause: without it, 40 %")
    assert is_explained([mended, models])


def test_changes_that_act_on_the_same_growth_are_said_to():
    one, other = tried("a", Effect.LESS, 0.7, blamed="a"), tried("b", Effect.LESS, 0.7, blamed="b")

    assert conclude([one, other], []).sentences[-1] == (
        "These overlap: together they explain more than 100 % of the growth."
    )
    assert conclude([one], []).sentences[-1] == "The other 30 % is not explained."


def test_finding_whose_lines_went_with_the_change_is_confirmed():
    lines = replace(CALLBACKS, codes=(), places=("train.py:7-19",))
    inside = replace(FINDING, code="LW102", where="train.py:14")
    outside = replace(FINDING, code="LW102", where="train.py:24")
    other_file = replace(FINDING, code="LW102", where="data.py:14")

    states = [state for _, state in conclude([lines], [inside, outside, other_file]).states]

    assert states == [State.CONFIRMED, State.UNTESTED, State.UNTESTED]


def test_finding_that_holds_all_of_what_the_change_stops_is_confirmed():
    pipeline = tried("one-batch", Effect.STOPS, 1.0, blamed="the input pipeline")
    most = replace(FINDING, code="LW102", share=0.95)
    some = replace(FINDING, code="LW107", share=0.05)

    states = [state for _, state in conclude([pipeline], [most, some]).states]

    assert states == [State.CONFIRMED, State.UNTESTED]


def test_what_a_change_speaks_against_is_rejected_however_much_it_would_explain():
    callbacks = replace(tried("callbacks", Effect.SAME), rejects=("LW101",))
    pipeline = tried("one-batch", Effect.STOPS, 1.0, blamed="the input pipeline")

    [(_, state)] = conclude([callbacks, pipeline], [replace(FINDING, share=0.95)]).states

    assert state is State.REJECTED


def test_container_of_a_callback_is_not_told_a_second_time_but_another_one_is():
    def container(share, line=""):
        one = tried("containers", Effect.LESS, share, blamed=f"line {line}", detail=line)
        return with_covers(one, "callbacks")

    callbacks = tried("callbacks", Effect.LESS, 0.6, blamed="the callback Saver")
    both = [container(1.0), container(0.6, "train.py:14"), container(0.4, "train.py:30")]

    assert [one.split(":")[0] for one in conclude([callbacks, *both], []).sentences] == [
        "The callback Saver is part of the cause",
        "Line train.py",
    ]
    assert conclude([callbacks, *both], []).sentences[1].startswith("Line train.py:30")


def test_small_leak_that_a_change_leaves_is_told():
    left = Measured(Kind.LEAK, "epoch", None, 12, 586 << 10, (500 << 10, 600 << 10))
    eager = replace(tried("eager", Effect.LESS, 0.95, blamed="the tracing"), measured=left)

    assert conclude([eager], []).sentences == (
        "The tracing is the cause: without it, the growth is gone (95 %).",
        "A smaller leak remains: +586.0 KiB per epoch.",
    )
    assert still_leaks([eager])
    assert not still_leaks([eager, CALLBACKS])


def test_small_rest_that_stops_on_top_of_another_change_is_told_with_its_share():
    left = Measured(Kind.LEAK, "epoch", None, 12, 586 << 10, (500 << 10, 600 << 10))
    eager = replace(tried("eager", Effect.LESS, 0.95, blamed="the tracing"), measured=left)
    on_top = tried("callbacks", Effect.STOPS, 0.05, blamed="the callback Saver", codes=("LW101",))

    conclusion = conclude([eager, on_top], [FINDING])

    assert conclusion.sentences == (
        "The tracing is the cause: without it, the growth is gone (95 %).",
        "The callback Saver is part of the cause: without it, 5 % of the growth is gone.",
    )
    assert conclusion.states == ((FINDING, State.CONFIRMED),)
    assert not still_leaks([eager, on_top])


def test_two_changes_that_take_a_half_each_leave_no_small_leak_to_look_for():
    left = Measured(Kind.LEAK, "epoch", None, 12, 3 << 20, (3 << 20, 3 << 20))
    halves = [
        replace(tried(key, Effect.LESS, 0.5), measured=left) for key in ("callbacks", "one-batch")
    ]

    assert is_explained(halves)
    assert not still_leaks(halves)


def test_without_time_for_any_change_nothing_is_concluded():
    assert conclude([left_out("callbacks")], []).sentences == (
        "No change was tried (the table says why).",
    )


def test_confirmed_findings_come_first_and_rejected_ones_last():
    native = replace(FINDING, code="LW404", where=None)
    traced = replace(FINDING, code="LW202")
    eager = replace(tried("eager", Effect.SAME), rejects=("LW202",))

    states = conclude([eager, CALLBACKS], [traced, native, FINDING]).states

    assert [finding.code for finding, _ in states] == ["LW101", "LW404", "LW202"]


def test_part_that_hides_in_the_noise_is_explained_by_its_whole():
    whole = tried("callbacks", Effect.LESS, 0.4, blamed="one of your callbacks")
    one = tried("callbacks", Effect.LESS, 0.25, blamed="the callback A", detail="A")
    other = tried("callbacks", Effect.UNCLEAR, 0.15, blamed="the callback B", detail="B")
    mended = tried("mended", Effect.LESS, 0.6, blamed="a known leak")

    assert conclude([whole, one, other, mended], []).sentences == (
        "A known leak is part of the cause: without it, 60 % of the growth is gone.",
        "The callback A is part of the cause: without it, 25 % of the growth is gone.",
    )


def asked(finding, effect, share=0.0, **more):
    """A finding was made to let go."""
    one = tried("cut", effect, share, blamed=f"what `{finding.holder}` keeps")
    return replace(one, tests=(finding.identity,), **more)


STUDY = Finding("LW201", "model-accumulation", "", "", "train.py:9", "study.trials", 0.6)
REGISTRY = Finding("LW205", "gradient-registry", "", "", "train.py:7", "registry")


def less_made(effect, share, *codes, is_suspected):
    one = tried("eager", effect, share, blamed="tracing functions", codes=codes)
    return replace(one, is_amount=True, is_suspected=is_suspected)


def test_less_of_what_is_made_names_no_cause_where_no_finding_says_that_too_much_is():
    eager = less_made(Effect.LESS, 0.48, "LW202", is_suspected=False)

    conclusion = conclude([eager], [STUDY])

    assert conclusion.sentences == (
        "No tested change stops the growth. The causes named in the findings were not tested.",
    )
    assert conclusion.states == ((STUDY, State.UNTESTED),)
    assert not is_explained([eager])


def test_growth_that_stops_with_what_is_made_confirms_nobody_who_holds_it():
    eager = less_made(Effect.STOPS, 1.0, "LW202", is_suspected=False)
    most = replace(STUDY, share=0.99)

    conclusion = conclude([eager], [most])

    [sentence] = conclusion.sentences
    assert sentence.startswith("The growing memory comes from tracing functions.")
    assert sentence.endswith("What keeps it in memory was not tested.")
    assert conclusion.states == ((most, State.UNTESTED),)


def test_less_of_what_is_made_is_a_cause_where_a_finding_says_that_too_much_is():
    traced = replace(FINDING, code="LW202")
    eager = less_made(Effect.LESS, 0.8, "LW202", is_suspected=True)

    conclusion = conclude([eager], [traced])

    assert conclusion.sentences[0].startswith(
        "Tracing functions is part of the cause: without it, 80 %"
    )
    assert conclusion.states == ((traced, State.CONFIRMED),)


def test_finding_that_lets_go_is_confirmed_and_no_other_of_its_kind():
    other = replace(STUDY, where="train.py:20", holder="best")

    conclusion = conclude([asked(STUDY, Effect.STOPS, 1.0, how="when it lets go")], [STUDY, other])

    assert conclusion.sentences == (
        "What `study.trials` keeps is the cause: when it lets go, the growth is gone (100 %).",
    )
    assert conclusion.states == ((STUDY, State.CONFIRMED), (other, State.UNTESTED))


BOTH = replace(
    asked(STUDY, Effect.STOPS, 1.0), codes=("LW205",), together=("cut", "mended"), blamed="both"
)


def test_two_that_hide_each_other_are_both_confirmed_and_told_as_two():
    alone = asked(STUDY, Effect.LESS, 0.2)
    mended = tried("mended", Effect.SAME, codes=("LW205",))

    conclusion = conclude([alone, BOTH, mended], [STUDY, REGISTRY])

    assert conclusion.sentences == ("Both is the cause: without it, the growth is gone (100 %).",)
    assert [state for _, state in conclusion.states] == [State.CONFIRMED] * 2


def test_pair_that_does_no_more_than_one_of_the_two_accuses_only_that_one():
    alone = asked(STUDY, Effect.SAME)
    mended = tried("mended", Effect.STOPS, 1.0, blamed="a known leak", codes=("LW205",))

    conclusion = conclude([alone, BOTH, mended], [STUDY, REGISTRY])

    assert conclusion.sentences == (
        "A known leak is the cause: without it, the growth is gone (100 %).",
    )
    assert conclusion.states == ((REGISTRY, State.CONFIRMED), (STUDY, State.UNTESTED))


def test_pair_does_not_count_twice():
    alone, pair = (
        asked(STUDY, Effect.LESS, 0.5),
        replace(BOTH, difference=Difference(Effect.LESS, 0.7)),
    )

    assert not is_explained([alone, pair])


def test_two_holders_of_the_same_are_confirmed_where_neither_lets_it_go_alone():
    other = replace(STUDY, where="train.py:20", holder="best")
    whole = replace(asked(STUDY, Effect.STOPS, 1.0), tests=(STUDY.identity, other.identity))
    parts = [asked(one, Effect.SAME, detail=one.where) for one in (STUDY, other)]

    states = [state for _, state in conclude([whole, *parts], [STUDY, other]).states]

    assert states == [State.CONFIRMED, State.CONFIRMED]


def test_holder_is_not_confirmed_by_another_that_lets_go_of_all():
    other = replace(STUDY, where="train.py:20", holder="best")
    whole = replace(asked(STUDY, Effect.STOPS, 1.0), tests=(STUDY.identity, other.identity))
    parts = [
        asked(STUDY, Effect.STOPS, 1.0, detail=STUDY.where),
        asked(other, Effect.SAME, detail=other.where),
    ]

    states = [state for _, state in conclude([whole, *parts], [STUDY, other]).states]

    assert states == [State.CONFIRMED, State.UNTESTED]


def test_finding_that_was_asked_in_vain_is_not_confirmed_by_what_stops_the_growth():
    most = replace(STUDY, share=0.95)
    mended = tried("mended", Effect.STOPS, 1.0, blamed="a known leak")

    states = conclude([asked(most, Effect.SAME), mended], [most]).states

    assert states == ((most, State.UNTESTED),)


def test_change_that_could_not_be_made_leaves_its_finding_untested_and_says_so():
    not_made = replace(
        asked(STUDY, Effect.UNTESTED), difference=Difference(Effect.UNTESTED, 0.0, "not found")
    )

    conclusion = conclude([not_made, tried("eager", Effect.SAME)], [STUDY])

    assert conclusion.sentences == (
        "No tested change stops the growth. The causes named in the findings were not tested.",
    )
    assert conclusion.states == ((STUDY, State.UNTESTED),)


def test_cause_that_is_not_known_is_never_confirmed():
    unknown = replace(FINDING, code="LW404", share=1.0)

    assert conclude([CALLBACKS], [unknown]).states == ((unknown, State.UNTESTED),)


def test_partner_that_helps_alone_holds_something_else_and_each_has_its_own_share():
    mended = tried("mended", Effect.LESS, 0.48, blamed="a known leak", codes=("LW205",))
    both = replace(
        BOTH,
        difference=Difference(Effect.LESS, 0.95),
        blamed="what `study.trials` keeps, together with a known leak,",
    )

    conclusion = conclude([asked(STUDY, Effect.UNCLEAR), both, mended], [STUDY, REGISTRY])

    assert conclusion.sentences == (
        "A known leak is part of the cause: without it, 48 % of the growth is gone.",
        "What `study.trials` keeps is part of the cause: without it, 47 % of the growth is gone.",
    )
    assert [state for _, state in conclusion.states] == [State.CONFIRMED] * 2
    assert is_explained([both, mended])
