from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_array, an_evidence

GRAPH = "tensorflow.python.framework.ops.Graph"


def a_graph(*bases, edge="._default"):
    kind = bases[0] if bases else GRAPH
    return a_step(edge, kind, *bases[1:], *((GRAPH,) if bases else ()))


def test_operations_added_in_a_loop_are_found():
    added = a_tally(tallies.OPERATIONS, "operation", each=72, where="v1.py:18")

    [finding] = find_causes(an_evidence(added))

    assert finding.code == "LW203"
    assert finding.message == (
        "The graph grows by 72 operations every epoch. Operations are never removed from a graph."
    )
    assert finding.where == "v1.py:18"
    assert finding.holder == "default graph"


def test_tables_of_the_graph_are_told_in_the_same_words():
    added = a_tally(tallies.OPERATIONS, "operation", each=72, where="v1.py:18")
    table = a_holder(
        a_module("tensorflow.python.framework.ops"),
        a_graph(),
        a_step("._names_in_use", "dict"),
        grows="._names_in_use",
        mib=1,
        is_users=False,
    )

    [finding] = find_causes(an_evidence(added, table))

    assert (finding.code, finding.where, finding.share) == ("LW203", "v1.py:18", 1.0)


def test_graph_that_was_traced_is_not_a_graph_of_version_1():
    added = a_tally(tallies.OPERATIONS, "operation", each=72, where="v1.py:18")
    traced = a_graph("tensorflow.python.framework.func_graph.FuncGraph", edge=".graph")
    held = a_holder(
        a_module(),
        traced,
        a_step(".kept", "list"),
        an_array(),
        grows=".kept",
    )

    assert find_causes(an_evidence(added, held))[0].code == "LW102"


def test_graph_that_is_finished_is_innocent():
    done = a_tally(tallies.OPERATIONS, "operation", each=0, start=500, where="v1.py:18")

    assert [found.code for found in find_causes(an_evidence(done))] == ["LW404"]
