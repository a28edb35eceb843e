from dataclasses import replace

from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_evidence

SESSION = "tensorflow.python.client.session.Session"
OPENED = a_tally(tallies.SESSIONS, "Session", each=2, start=0, where="jobs.py:15")


def a_list_of_sessions():
    return a_holder(
        a_module(),
        a_step(".open_jobs", "list"),
        a_step("[*]", SESSION, "tensorflow.python.client.session.BaseSession"),
        grows=".open_jobs",
        items=2,
        mib=0.5,
        added_at="jobs.py:17",
    )


def test_sessions_left_open_are_found_where_they_were_opened():
    [finding] = find_causes(an_evidence(a_list_of_sessions(), OPENED, unit="iteration"))

    assert finding.code == "LW204"
    assert finding.message == ("Sessions stay open: 2 more every iteration, now 16.")
    assert finding.where == "jobs.py:15"
    assert finding.holder == "open_jobs"
    assert finding.share == 1.0


def test_sessions_are_found_without_a_path():
    """Their graphs add operations, but the sessions are what keeps them."""
    operations = a_tally(tallies.OPERATIONS, "operation", each=90, where="jobs.py:16")

    [finding] = find_causes(an_evidence(OPENED, operations))

    assert (finding.code, finding.where) == ("LW204", "jobs.py:15")


def test_sessions_that_were_closed_are_innocent_though_they_are_kept():
    closed = a_tally(tallies.SESSIONS, "Session", each=0, start=0)

    [finding] = find_causes(an_evidence(a_list_of_sessions(), closed, mib=0.5))

    assert finding.code == "LW102"


def a_dict_of_versions():
    """The heaviest part of a version is its graph; its session is beside it."""
    return a_holder(
        a_module(),
        a_step(".versions", "dict"),
        a_step("[*]", "__main__.Version"),
        a_step(".graph", "tensorflow.python.framework.ops.Graph"),
        grows=".versions",
        items=2,
        mib=2,
        added_at="serve.py:36",
    )


def test_graphs_that_are_kept_with_their_open_sessions_are_found():
    held = a_dict_of_versions()
    opened = replace(OPENED, counts=held.counts)

    [finding] = find_causes(an_evidence(held, opened))

    assert (finding.code, finding.where, finding.holder) == ("LW204", "jobs.py:15", "versions")


def test_graphs_that_are_kept_without_sessions_are_not_sessions():
    other = replace(OPENED, counts=(1, 1, 1))

    assert [found.code for found in find_causes(an_evidence(a_dict_of_versions(), other))] == [
        "LW102"
    ]
