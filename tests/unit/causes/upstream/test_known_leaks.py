import re
from pathlib import Path

import pytest

import lowwater.causes.upstream
from lowwater.causes.upstream import KNOWN_LEAKS
from lowwater.causes.upstream._known_leak import parse_version
from lowwater.causes.upstream.eager_cache import EAGER_CACHE
from lowwater.causes.upstream.gradient_registry import GRADIENT_REGISTRY
from lowwater.causes.upstream.layer_nodes import LAYER_NODES
from lowwater.causes.upstream.lookup_table import LOOKUP_TABLE

FILES = {path.stem for path in Path(lowwater.causes.upstream.__file__).parent.glob("[!_]*.py")}
MEASURED_ON = {"tensorflow": "2.21.0", "keras": "3.15.1"}
BY_CODE = pytest.mark.parametrize("leak", KNOWN_LEAKS, ids=lambda leak: leak.code)


def test_every_leak_file_is_in_the_list():
    assert {leak.name.replace("-", "_") for leak in KNOWN_LEAKS} == FILES


def test_codes_are_unique():
    assert len({leak.code for leak in KNOWN_LEAKS}) == len(KNOWN_LEAKS)


@BY_CODE
def test_leak_says_all_that_the_doctor_prints(leak):
    assert re.fullmatch(r"LW\d{3}", leak.code)
    assert leak.issue is None or re.fullmatch(r"[\w-]+/[\w-]+#\d+", leak.issue)
    assert all(text.endswith(".") for text in (leak.what, leak.costs, leak.advice))
    assert leak.affected


@BY_CODE
def test_release_that_it_was_measured_on_has_the_leak(leak):
    assert leak.is_in(MEASURED_ON[leak.library])


def test_release_before_the_first_report_is_not_blamed():
    assert GRADIENT_REGISTRY.is_in("2.16.1")
    assert not GRADIENT_REGISTRY.is_in("2.9.2")
    assert not LOOKUP_TABLE.is_in("unknown")


def test_fix_of_a_part_does_not_acquit_the_release():
    """What was merged mends training alone: `silu` and SavedModels leaked as before."""
    assert GRADIENT_REGISTRY.is_in("2.22.0")
    assert "for training only" in GRADIENT_REGISTRY.affected


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.21.0", (2, 21, 0)),
        ("2.9.1", (2, 9, 1)),
        ("2.22.0rc1", (2, 22, 0)),
        ("2.22.0.dev20260801", (2, 22, 0)),
        ("unknown", ()),
    ],
)
def test_version_is_its_leading_numbers(text, version):
    assert parse_version(text) == version


def test_reference_says_who_is_affected_and_where_it_is_reported():
    assert GRADIENT_REGISTRY.reference == (
        "A leak in tensorflow (reported from 2.11 on, measured on 2.21; a fix for training only "
        "was merged later (tensorflow/tensorflow#109334)); reported as "
        "tensorflow/tensorflow#97697."
    )
    assert LAYER_NODES.reference.endswith("no known report.")


def test_form_of_a_leak_may_have_a_report_of_its_own():
    told = EAGER_CACHE.reported_as("tensorflow/tensorflow#68196")

    assert told.endswith("reported as tensorflow/tensorflow#68196.")


@BY_CODE
def test_costs_are_of_a_release_that_is_named(leak):
    assert "measured on" in leak.affected
