from lowwater.causes.catalogue import find_causes
from lowwater.testing import a_holder, a_module, a_step, an_array, an_evidence


def test_results_of_cells_are_found_in_out():
    held = a_holder(a_module(), a_step(".Out", "dict"), an_array(), grows=".Out")

    [finding] = find_causes(an_evidence(held, unit="cell"))

    assert finding.code == "LW106"
    assert finding.message == (
        "The notebook's `Out` grows by one float32 array (4096, 256) every cell."
    )
    assert finding.holder == "Out"
    assert finding.where is None


def test_last_exception_of_the_interpreter_is_found():
    held = a_holder(
        a_module("sys"),
        a_step(".last_traceback", "traceback"),
        a_step(".tb_frame", "frame", about="<module>()"),
        a_step("local rows", "list"),
        an_array(),
        grows="local rows",
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW106"
    assert finding.message == (
        "`sys.last_traceback` keeps the variables of the last cell that failed."
    )


def test_list_that_is_called_out_is_not_the_notebooks():
    held = a_holder(a_module(), a_step(".Out", "list"), an_array(), grows=".Out")

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW102"]
