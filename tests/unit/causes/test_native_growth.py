from lowwater.causes import find_causes
from lowwater.testing import a_holder, a_module, a_step, an_array, an_evidence


def test_growth_that_no_object_explains_is_said_with_its_bytes():
    [finding] = find_causes(an_evidence(unit="iteration", where="train.py:9", mib=4))

    assert finding.code == "LW404"
    assert finding.message == (
        "16.0 MiB of the 16.0 MiB by which memory in use grew are in no Python object; "
        "which part of the loop at this line takes them is not known."
    )
    assert finding.where == "train.py:9"


def test_growth_without_a_loop_has_no_line():
    [finding] = find_causes(an_evidence())

    assert finding.message.endswith("which part of the program takes them is not known.")
    assert finding.where is None


def test_small_rest_beside_a_cause_is_not_told():
    held = a_holder(a_module(), a_step(".seen", "list"), an_array(), grows=".seen", mib=3.4)

    [finding] = find_causes(an_evidence(held, mib=4))

    assert (finding.code, finding.share) == ("LW102", 0.85)


def test_large_rest_beside_a_cause_is_told_after_it():
    held = a_holder(a_module(), a_step(".seen", "list"), an_array(), grows=".seen", mib=2.4)

    findings = find_causes(an_evidence(held, mib=4))

    assert [(one.code, one.share) for one in findings] == [("LW102", 0.6), ("LW404", 0.4)]
