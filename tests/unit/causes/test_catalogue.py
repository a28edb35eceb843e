import ast
import re
from pathlib import Path

import pytest

import lowwater.causes
from lowwater.causes._page import page_of
from lowwater.causes.catalogue import CAUSES
from lowwater.causes.upstream import KNOWN_LEAKS

FOLDER = Path(lowwater.causes.__file__).parent
FILES = {path.stem for path in FOLDER.glob("[!_]*.py")} - {"catalogue"}
EACH = pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
# The list may grow; a code is never used again for something else.
CODES = {
    *("LW101", "LW102", "LW103", "LW104", "LW105", "LW106", "LW107", "LW108"),
    *("LW201", "LW202", "LW203", "LW204", "LW205", "LW206", "LW207", "LW208", "LW209"),
    *("LW210", "LW211", "LW212", "LW213", "LW214"),
    *("LW301", "LW302", "LW303", "LW304", "LW305"),
    *("LW401", "LW402", "LW403", "LW404", "LW405"),
}


def test_every_cause_file_is_in_the_catalogue():
    assert {type(cause).__module__.rsplit(".", 1)[-1] for cause in CAUSES} == FILES


def test_every_code_of_the_design_has_one_cause():
    assert sorted(cause.code for cause in CAUSES) == sorted(CODES)


def test_causes_of_libraries_are_the_known_leaks():
    causes = {cause.code: cause.known for cause in CAUSES if cause.known is not None}

    assert causes == {leak.code: leak for leak in KNOWN_LEAKS}
    assert all(cause.name == cause.known.name for cause in CAUSES if cause.known)


def test_last_resorts_stand_last():
    codes = [cause.code for cause in CAUSES]

    claiming = [cause.code for cause in CAUSES if "claims" in vars(type(cause))]
    assert claiming[-1] == "LW102"
    assert codes[-1] == "LW404"


@EACH
def test_cause_is_called_like_its_file(cause):
    file = type(cause).__module__.rsplit(".", 1)[-1]

    assert cause.name == file.replace("_", "-")
    assert type(cause).__name__ == "".join(word.title() for word in file.split("_"))


@EACH
def test_cause_documents_itself(cause):
    page = page_of(cause)

    assert re.fullmatch(r"LW\d{3}", cause.code)
    assert page.summary.endswith(".")
    assert len(page.prose) > 100, "a reader who knows nothing of it should understand"
    assert cause.fix.endswith(".")


@EACH
def test_both_examples_can_be_parsed_and_differ(cause):
    page = page_of(cause)

    leaks, flat = ast.dump(ast.parse(page.leaks)), ast.dump(ast.parse(page.flat))
    assert leaks != flat


@EACH
def test_innocent_cause_does_not_document_a_leak(cause):
    """What only explains a verdict that is no leak must not call its example one."""
    accuses = {"claims", "in_rest"} & set(vars(type(cause)))

    assert accuses or page_of(cause).leaks_title == "Looks like a leak:"
