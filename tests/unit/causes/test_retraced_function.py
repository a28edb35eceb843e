from dataclasses import replace

from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_model, a_module, a_step, a_tally, an_array, an_evidence

FUNCTION = "tensorflow.python.eager.polymorphic_function.polymorphic_function.Function"


def a_trace_cache(where="train.py:14", mib=1.0):
    return a_holder(
        a_module(),
        a_step(".train_step", FUNCTION, where=where),
        a_step("._cache", "tensorflow.core.function.polymorphism.function_cache.FunctionCache"),
        a_step("._primary", "collections.OrderedDict"),
        a_step(
            "[*]", "tensorflow.python.eager.polymorphic_function.concrete_function.ConcreteFunction"
        ),
        a_step(
            "._func_graph",
            "tensorflow.python.framework.func_graph.FuncGraph",
            "tensorflow.python.framework.ops.Graph",
        ),
        grows="._primary",
        items=8,
        mib=mib,
    )


def a_registry(mib=1.0):
    return a_holder(
        a_module("tensorflow.python.framework.ops"),
        a_step("._gradient_registry", "tensorflow.python.framework.registry.Registry"),
        a_step("._registry", "dict"),
        a_step("[*]", "function"),
        grows="._registry",
        mib=mib,
        is_users=False,
    )


def test_argument_that_changes_is_named():
    change = "`progress` is a new Python number each time (1, 2, 3)"
    traces = a_tally(tallies.TRACES, "train_step", each=8, where="train.py:14", about=change)

    [finding] = find_causes(an_evidence(a_trace_cache(), traces))

    assert finding.message.endswith(f"keeps a graph each time: its argument {change}.")


def test_function_traced_every_epoch_is_found_with_its_native_side():
    traces = a_tally(tallies.TRACES, "train_step", each=8, where="train.py:14")

    [finding] = find_causes(an_evidence(a_trace_cache(), traces))

    assert finding.code == "LW202"
    assert finding.message == (
        "`train_step` is traced again 8 times every epoch, and keeps a graph each time."
    )
    assert finding.where == "train.py:14"
    assert finding.share == 1.0


def test_function_without_a_path_is_found_by_its_traces():
    traces = a_tally(tallies.TRACES, "serve", each=1, where="serve.py:12")

    [finding] = find_causes(an_evidence(traces, unit="iteration"))

    assert finding.message == (
        "`serve` is traced again once every iteration, and keeps a graph each time."
    )
    assert finding.where == "serve.py:12"


def test_new_shapes_are_mended_otherwise_than_new_numbers():
    traces = a_tally(tallies.TRACES, "one_step_on_data", each=12)
    shapes = a_tally(tallies.SHAPES, "train_on_batch", each=12, where="train.py:30")

    [finding] = find_causes(an_evidence(traces, shapes))

    assert finding.code == "LW202"
    assert finding.message == (
        "`train_on_batch` gets 12 new shapes every epoch, and traces and keeps a graph each time."
    )
    assert finding.where == "train.py:30"
    assert finding.fix == (
        "Use one input shape, or a few: for example, pad to the next multiple of 64, or sort "
        "inputs into buckets of equal length."
    )


def test_function_of_keras_is_found_at_the_call_that_makes_it_trace():
    traces = a_tally(tallies.TRACES, "Trainer.make_function.<locals>.one_step", each=1)
    fit = a_tally(tallies.CALLS, "fit", where="train.py:30")

    [finding] = find_causes(an_evidence(traces, fit))

    assert finding.message == (
        "A Keras function is traced again once every epoch, and keeps a graph each time."
    )
    assert finding.where == "train.py:30"


def test_inner_function_is_called_by_its_own_name():
    traces = a_tally(tallies.TRACES, "main.<locals>.train_step", where="train.py:14")

    [finding] = find_causes(an_evidence(traces))

    assert finding.holder == "train_step"


def test_graphs_that_the_registry_keeps_for_it_are_its_own():
    traces = a_tally(tallies.TRACES, "train_step", each=8, where="train.py:14")

    [finding] = find_causes(an_evidence(a_trace_cache(), a_registry(), traces))

    assert finding.code == "LW202"
    assert finding.share == 1.0


def test_second_cause_keeps_its_own_share():
    traces = a_tally(tallies.TRACES, "train_step", each=8, where="train.py:14")
    seen = a_holder(a_module(), a_step(".seen", "list"), an_array(), grows=".seen", mib=1)

    findings = find_causes(an_evidence(a_trace_cache(mib=1), traces, seen, mib=4))

    assert [(found.code, found.share) for found in findings] == [("LW202", 0.75), ("LW102", 0.25)]


def test_function_of_every_new_model_is_not_retraced():
    """Each model has a function of its own, traced once: there are more functions, too."""
    traces = a_tally(tallies.TRACES, "one_step_on_data")
    functions = a_tally(tallies.FUNCTIONS, "one_step_on_data")
    models = a_holder(a_module(), a_step(".models", "list"), a_model(), grows=".models")

    findings = find_causes(an_evidence(traces, functions, models))

    assert [found.code for found in findings] == ["LW201"]


def test_function_of_keras_is_not_blamed_for_models_that_are_made_in_every_round():
    """The model of this round is caught before it is traced, then after it: 0 traces, then 2."""
    traces = replace(a_tally(tallies.TRACES, "one_step_on_data"), counts=(0, 1, 2))
    models = a_tally(tallies.CALLS, tallies.MODEL, where="search.py:14")

    assert "LW202" not in [found.code for found in find_causes(an_evidence(traces, models))]
    assert [found.code for found in find_causes(an_evidence(traces))] == ["LW202"]


def test_function_traced_only_at_first_is_innocent():
    traces = a_tally(tallies.TRACES, "train_step", each=0, start=3, where="train.py:14")

    assert [found.code for found in find_causes(an_evidence(traces))] == ["LW404"]
