from lowwater.model import Kind
from lowwater.supervisor.session import diagnose
from lowwater.testing import a_run


def test_leak_that_was_never_looked_at_is_told_without_a_cause_and_with_the_reason():
    found = diagnose(a_run(14).grows(mib=4).timeline())

    assert (found.verdict.kind, found.findings) == (Kind.LEAK, ())
    [note] = found.notes
    assert note.startswith("no cause found: Lowwater made no heap scan")


def test_run_that_does_not_leak_needs_no_cause():
    assert diagnose(a_run(14).timeline()).notes == ()
