from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_evidence

GRAPH = a_step(
    "key",
    "tensorflow.python.framework.func_graph.FuncGraph",
    "tensorflow.python.framework.ops.Graph",
)
PREDICT = a_tally(tallies.CALLS, "predict", where="train.py:20")


def a_table(module="tensorflow.python.debug.lib.check_numerics_callback"):
    edge = "._CHECK_NUMERICS_INPUT_LOOKUP"
    return a_holder(
        a_module(module),
        a_step(edge, "collections.defaultdict"),
        GRAPH,
        grows=edge,
        items=2,
        is_users=module == "__main__",
    )


def test_graphs_that_the_check_keeps_are_found():
    [finding] = find_causes(an_evidence(a_table(), PREDICT))

    assert finding.code == "LW214"
    assert finding.message == (
        "`enable_check_numerics()` keeps every traced graph, 2 graphs every epoch. A leak in "
        "tensorflow (measured on 2.21; other releases were not measured); no known report."
    )
    assert (finding.where, finding.holder) == ("train.py:20", "tensorflow check_numerics")


def test_table_of_the_program_with_the_same_name_is_the_programs():
    [finding] = find_causes(an_evidence(a_table("__main__"), PREDICT))

    assert finding.code == "LW102"
