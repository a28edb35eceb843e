from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowwater.causes._attribution import attribute
from lowwater.causes.catalogue import CAUSES, find_causes, why_nothing_is_found
from lowwater.model import Holder, Kind, Step, Tally, tallies
from lowwater.testing import a_holder, a_model, a_module, a_step, a_tally, an_array, an_evidence


def a_list(name, mib, added_at=None):
    edge = f".{name}"
    return a_holder(
        a_module(), a_step(edge, "list"), an_array(), grows=edge, mib=mib, added_at=added_at
    )


def shares(*seen, **facts):
    return [(found.holder, found.share) for found in find_causes(an_evidence(*seen, **facts))]


def test_two_causes_at_once_are_both_found_with_their_shares():
    assert shares(a_list("small", 1), a_list("large", 3), mib=4) == [
        ("large", 0.75),
        ("small", 0.25),
    ]


def test_bytes_per_unit_are_the_share_of_the_verdicts_growth():
    [finding] = find_causes(an_evidence(a_list("seen", 3.4), mib=4))

    assert finding.bytes_per_unit == round(0.85 * (4 << 20))


def test_growth_of_unknown_pace_has_shares_but_no_bytes():
    evidence = an_evidence(a_list("seen", 4), mib=4)
    verdict = replace(evidence.verdict, growth_bytes_per_unit=None)

    [finding] = find_causes(replace(evidence, verdict=verdict))

    assert (finding.share, finding.bytes_per_unit) == (1.0, None)


def test_holders_at_one_line_are_one_finding():
    assert shares(a_list("a", 3, "train.py:9"), a_list("b", 1, "train.py:9"), mib=4) == [("a", 1.0)]


def test_holders_at_two_lines_are_two_findings():
    both = shares(a_list("a", 3, "train.py:9"), a_list("a", 1, "train.py:12"), mib=4)

    assert both == [("a", 0.75), ("a", 0.25)]


def test_tiny_shares_are_dropped():
    assert shares(a_list("large", 3.9), a_list("tiny", 0.1), mib=4) == [("large", 0.975)]


def test_tiny_share_is_told_if_it_is_all_there_is():
    seen = a_list("tiny", 0.1)
    evidence = an_evidence(seen, mib=4)
    nobody_else = tuple(cause for cause in CAUSES if cause.code == "LW102")

    [finding] = attribute(evidence, nobody_else)
    assert finding.share == 0.025


def test_holders_of_more_than_the_growth_share_all_of_it():
    """Sizes are estimates: their sum may be larger than what the allocator has counted."""
    assert shares(a_list("a", 6), a_list("b", 2), mib=4) == [("a", 0.75), ("b", 0.25)]


def test_path_that_shrank_is_nobodys():
    shrunk = replace(a_list("shrunk", 4), grown_bytes=-1000)

    assert [found.code for found in find_causes(an_evidence(shrunk))] == ["LW404"]


def test_native_rest_goes_to_the_models_and_not_to_the_arrays():
    models = a_holder(a_module(), a_step(".models", "list"), a_model(), grows=".models", mib=1)

    assert shares(models, a_list("seen", 1), mib=4) == [("models", 0.75), ("seen", 0.25)]


def test_native_rest_is_split_in_proportion():
    first = a_holder(a_module(), a_step(".first", "list"), a_model(), grows=".first", mib=1)
    second = a_holder(a_module(), a_step(".second", "list"), a_model(), grows=".second", mib=0.25)

    assert shares(first, second, mib=5) == [("first", 0.8), ("second", 0.2)]


def a_list_of_graphs(mib):
    """One a round, of a class of the program, each with a model."""
    runs = a_holder(
        a_module(), a_step(".runs", "list"), a_step("[*]", "__main__.Run"), grows=".runs", mib=mib
    )
    return replace(runs, brings=(a_model(),))


def test_native_side_has_no_larger_share_than_it_can_have_taken():
    """A model with 64 KiB in Python does not take 8 MiB: that much was never measured."""
    first, second = find_causes(an_evidence(a_list_of_graphs(1 / 16), mib=8))

    assert (first.code, second.code) == ("LW404", "LW102")
    assert second.share == pytest.approx(25 / 16 / 8, rel=0.01)


def test_native_side_that_is_larger_than_the_python_side_is_told_of():
    [finding] = find_causes(an_evidence(a_list_of_graphs(1), mib=8))

    assert finding.share == 1.0
    assert finding.message == (
        "`runs` grows by one `Run` object every epoch. Most of that memory is outside Python "
        "objects and is freed with them."
    )


def test_small_native_side_is_not_told_of():
    [finding] = find_causes(an_evidence(a_list_of_graphs(6), mib=8))

    assert finding.message == "`runs` grows by one `Run` object every epoch."


def test_path_with_hardly_any_bytes_does_not_win_the_native_rest():
    """A list that mentions the one model again and again has not brought its memory along."""
    mentions = a_holder(
        a_module(), a_step(".runs", "list"), a_model(), grows=".runs", mib=0.001, added_at="t.py:3"
    )
    endless = a_tally(
        tallies.DATASETS, "CacheDataset", each=0, where="train.py:12", about="endless"
    )

    [finding] = find_causes(an_evidence(mentions, endless, mib=4))

    assert finding.code == "LW301"


def test_sessions_are_small_objects_and_win_the_native_rest_by_their_number():
    session = a_step("[*]", "tensorflow.python.client.session.Session")
    jobs = a_holder(a_module(), a_step(".jobs", "list"), session, grows=".jobs", mib=0.001)
    opened = a_tally(tallies.SESSIONS, "Session", where="jobs.py:15")

    assert shares(jobs, opened, mib=4) == [("jobs", 1.0)]


def test_small_rest_is_the_error_of_our_sums():
    models = a_tally(tallies.MODELS, "Sequential", where="train.py:3")

    assert shares(a_list("seen", 3.9), models, mib=4) == [("seen", 0.975)]


def test_what_a_library_holds_and_nobody_knows_is_part_of_the_rest():
    table = a_holder(
        a_module("tensorflow.x"),
        a_step("._table", "dict"),
        an_array(),
        grows="._table",
        is_users=False,
        mib=3,
    )
    opened = a_tally(tallies.SESSIONS, "Session", where="jobs.py:15")

    [finding] = find_causes(an_evidence(table, opened, mib=4))

    assert (finding.code, finding.share) == ("LW204", 1.0)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.LEAK])
def test_verdict_that_is_no_leak_accuses_nobody(kind):
    findings = find_causes(an_evidence(a_list("seen", 4), kind=kind))

    assert all(found.share is None and found.holder != "seen" for found in findings)


def test_one_census_proves_nothing():
    evidence = an_evidence(a_list("seen", 4), censuses_at=(4,))

    assert find_causes(evidence) == ()


def test_leak_that_was_never_looked_at_has_no_findings():
    assert find_causes(an_evidence(censuses_at=())) == ()


def test_growth_that_was_over_before_the_censuses_has_no_findings():
    assert find_causes(an_evidence(mib=0)) == ()


def test_censuses_of_another_unit_know_the_pace_by_its_round_trips():
    evidence = an_evidence(a_list("seen", 4), unit="iteration")
    other = tuple(
        replace(census, unit_id=7, ordinals=(-1, census.ordinal // 2))
        for census in evidence.censuses
    )

    [finding] = find_causes(replace(evidence, censuses=other))

    assert finding.message == (
        "`seen` grows by about 2 float32 arrays (4096, 256) every iteration."
    ), "it may have done a good part of a third iteration"


def test_growth_of_unknown_pace_is_told_without_one():
    evidence = an_evidence(a_list("seen", 4))
    other = tuple(replace(census, unit_id=7) for census in evidence.censuses)

    [finding] = find_causes(replace(evidence, censuses=other))

    assert finding.message == "`seen` grew by 4 float32 arrays (4096, 256) while it was watched."


def test_holder_without_a_shape_is_left_out():
    shapeless = replace(a_list("seen", 4), container=7)

    assert [found.code for found in find_causes(an_evidence(shapeless))] == ["LW404"]


EDGES = ["", ".saved", "[*]", "['x']", "local x", "closure x", "default x", ".__dict__", "key"]
TYPES = [
    *("module", "frame", "list", "dict", "cell", "tuple", "function", "traceback", "generator"),
    *("type", "ValueError", "numpy.ndarray", "__main__.Thing", "functools._lru_cache_wrapper"),
    "functools.partial",
    "keras.src.callbacks.callback.Callback",
    "keras.src.callbacks.history.History",
    "keras.src.models.model.Model",
    "tensorflow.python.framework.ops.Graph",
    "tensorflow.python.framework.func_graph.FuncGraph",
    "tensorflow.python.framework.registry.Registry",
    "tensorflow.python.client.session.Session",
    "tensorflow.python.eager.backprop.GradientTape",
    "tensorflow.python.eager.polymorphic_function.polymorphic_function.Function",
]
LINES = st.sampled_from([None, "train.py:3", "train.py:9"])
STEPS = st.builds(
    Step,
    st.sampled_from(EDGES),
    st.sampled_from(TYPES),
    st.just(()),
    st.sampled_from(["", "float32 (2, 2)", "f()", "__main__"]),
    LINES,
)
COUNTS = st.tuples(*[st.integers(0, 1 << 40)] * 3)
HOLDERS = st.builds(
    Holder,
    st.lists(STEPS, min_size=1, max_size=12).map(tuple),
    st.integers(0, 11),
    COUNTS,
    COUNTS,
    st.integers(-(1 << 20), 1 << 40),
    is_users=st.booleans(),
)
KINDS = [value for name, value in vars(tallies).items() if name.isupper()]
NAMES = st.sampled_from(["fit", "compile", "clear_session", "Model", "CacheDataset", "frozen"])
TALLIES = st.builds(Tally, st.sampled_from(KINDS), NAMES, COUNTS, LINES)


@given(st.lists(HOLDERS, max_size=4), st.lists(TALLIES, max_size=8), st.sampled_from(Kind))
def test_whatever_was_seen_shares_never_exceed_the_growth(holders, counted, kind):
    findings = find_causes(an_evidence(*holders, *counted, kind=kind))

    assert sum(found.share or 0 for found in findings) <= 1.001
    assert all(len(found.trace) <= 8 for found in findings)
    assert all(found.message.endswith(".") and "``" not in found.message for found in findings)


def test_what_comes_with_each_item_gives_it_a_native_side():
    """The heaviest part of a callback is NumPy's; the model beside it has its memory in C++."""
    stopper = a_holder(
        a_module(),
        a_step(".callbacks", "list"),
        a_step("[*]", "keras.src.callbacks.callback.Callback"),
        an_array(".best_weights"),
        grows=".callbacks",
        mib=1,
    )
    with_model = replace(stopper, brings=(a_model(),))

    assert [one.share for one in find_causes(an_evidence(stopper, mib=4))] == [0.75, 0.25]
    [finding] = find_causes(an_evidence(with_model, mib=4))
    assert (finding.code, finding.share) == ("LW103", 1.0)


@pytest.mark.parametrize(
    ("looks", "told"), [((), "made no heap scan"), ((4,), "made one heap scan")]
)
def test_leak_without_a_finding_says_why(looks, told):
    evidence = an_evidence(censuses_at=looks)

    assert find_causes(evidence) == ()
    assert why_nothing_is_found(evidence) == (
        f"no cause found: Lowwater {told}, but needs two to see what grows; try `lowwater diagnose`"
    )


def test_growth_that_no_two_looks_have_seen_says_so():
    assert why_nothing_is_found(an_evidence(mib=0)) == (
        "no cause found: memory in use did not grow between two heap scans"
    )


def a_table_of_a_library(*items, mib=2.0):
    return a_holder(
        a_module("optuna.storages"),
        a_step("._rows", "dict"),
        *items,
        grows="._rows",
        mib=mib,
        is_users=False,
    )


@pytest.mark.parametrize("items", [(), (a_step("[*]", "dict"), an_array("['x']"))])
def test_table_of_a_library_without_a_line_or_a_class_is_part_of_what_is_not_known(items):
    evidence = an_evidence(a_table_of_a_library(*items, mib=4), mib=4, where="train.py:7")

    [finding] = find_causes(evidence)

    assert (finding.code, finding.where, finding.share) == ("LW404", "train.py:7", 1.0)
    assert finding.message == (
        "Of 16.0 MiB of growth, 16.0 MiB is in Python or library "
        "objects that no line of the program leads to; it is not known which part of the loop at "
        "this line allocates it."
    )


def test_modules_that_are_loaded_meanwhile_are_no_finding():
    loaded = replace(a_table_of_a_library(a_step("", "dict")), container=0)

    assert [found.code for found in find_causes(an_evidence(loaded, mib=4))] == ["LW404"]


def test_memo_of_a_library_is_nothing_that_the_program_can_bound():
    memo = a_holder(
        a_module("optuna.samplers"),
        a_step("._ndtr", "functools._lru_cache_wrapper", about="_ndtr"),
        a_step(".cache", "dict"),
        grows=".cache",
        is_users=False,
    )

    assert [found.code for found in find_causes(an_evidence(memo, mib=4))] == ["LW404"]


def test_table_of_a_library_with_a_class_in_it_tells_what_to_look_for():
    figures = a_table_of_a_library(a_step("[*]", "matplotlib.backend_bases.FigureManagerBase"))

    [finding] = find_causes(an_evidence(figures, mib=2))

    assert (finding.code, finding.holder) == (
        "LW102",
        "matplotlib.backend_bases.FigureManagerBase",
    )


def test_growth_that_nothing_of_the_program_leads_to_says_so():
    evidence = an_evidence(a_table_of_a_library(mib=0.1), mib=0.1)

    assert find_causes(evidence) == ()
    assert why_nothing_is_found(evidence) == (
        "no cause found: no line or name in the program leads to what grew; try `lowwater diagnose`"
    )


def test_path_that_nobody_claims_takes_no_more_than_is_left_of_the_growth():
    """Reached in another way, what a library holds seems to have grown by more than all memory."""
    step = a_step(".table", "dict")
    library = a_holder(
        a_module("library"), step, a_step("[*]", "str"), grows=".table", mib=9, is_users=False
    )

    [first, *_] = find_causes(an_evidence(a_list("seen", 3.8, "train.py:9"), library, mib=4))

    assert (first.code, first.where, first.share) == ("LW102", "train.py:9", 0.95)
