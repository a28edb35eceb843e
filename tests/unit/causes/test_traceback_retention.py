from lowwater.causes.catalogue import find_causes
from lowwater.testing import a_holder, a_module, a_step, an_array, an_evidence


def an_exception(edge):
    return a_step(edge, "ValueError", "Exception", "BaseException")


def test_kept_exceptions_keep_the_variables_of_failed_trials():
    held = a_holder(
        a_module(),
        a_step(".failures", "list"),
        a_step("[*]", "tuple"),
        an_exception("[1]"),
        a_step(".__traceback__", "traceback", where="train.py:20"),
        a_step(".tb_frame", "frame", about="run_trial()", where="train.py:12"),
        an_array("local data", "float32 (4000, 512)"),
        grows=".failures",
        added_at="train.py:22",
    )

    [finding] = find_causes(an_evidence(held, unit="iteration"))

    assert finding.code == "LW105"
    assert finding.message == (
        "`failures` grows by one `ValueError` every iteration, whose traceback keeps the "
        "variables of the failed call, such as `data` (a float32 array (4000, 512))."
    )
    assert finding.where == "train.py:22"


def test_models_of_failed_trials_are_the_exceptions_too():
    """The native side of what a failed call made has no path of its own."""
    held = a_holder(
        a_module(),
        a_step(".failures", "list"),
        an_exception("[*]"),
        a_step(".__traceback__", "traceback"),
        grows=".failures",
        mib=1,
    )

    [finding] = find_causes(an_evidence(held, mib=4))

    assert finding.code == "LW105"
    assert finding.share == 1.0
    assert finding.message == (
        "`failures` grows by one `ValueError` every epoch, "
        "whose traceback keeps all variables of the failed call."
    )


def test_kept_frames_are_found_without_an_exception():
    held = a_holder(
        a_module(),
        a_step(".frames", "list"),
        a_step("[*]", "frame", about="step()", where="train.py:5"),
        an_array("local x"),
        grows=".frames",
    )

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW105"]


def test_running_call_at_the_root_is_no_kept_frame():
    held = a_holder(
        a_step("", "frame", about="main()", where="train.py:30"),
        a_step("local seen", "list"),
        an_array(),
        grows="local seen",
    )

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW102"]


def test_messages_of_exceptions_are_no_tracebacks():
    held = a_holder(
        a_module(), a_step(".failures", "list"), a_step("[*]", "str"), grows=".failures"
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.message == "`failures` grows by one string every epoch."
    assert finding.code == "LW102"
