import re
from pathlib import Path

import pytest

import lowwater.upstream
from lowwater.upstream import KNOWN_LEAKS
from lowwater.upstream._known_leak import parse_version
from lowwater.upstream.eager_cache import EAGER_CACHE
from lowwater.upstream.gradient_registry import GRADIENT_REGISTRY

FILES = {path.stem for path in Path(lowwater.upstream.__file__).parent.glob("[!_]*.py")}
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
    assert leak.is_in("2.21.0")


def test_release_after_the_merged_fix_is_not_blamed():
    assert GRADIENT_REGISTRY.is_in("2.16.1")
    assert not GRADIENT_REGISTRY.is_in("2.22.0")
    assert not GRADIENT_REGISTRY.is_in("2.22.0rc1")


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
        "A leak of tensorflow (up to 2.21; a fix was merged after it "
        "(tensorflow/tensorflow#109334)); reported as tensorflow/tensorflow#97697."
    )
    assert EAGER_CACHE.reference.endswith("we know of no report.")
