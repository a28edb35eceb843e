from lowwater import tallies
from lowwater.causes import find_causes
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
    assert finding.message == ("Sessions are left open: 2 more every iteration, 16 by now.")
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
