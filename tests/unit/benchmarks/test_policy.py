"""The sweep of the policy tries only values that mean something."""

import runpy
from dataclasses import fields
from pathlib import Path

import pytest

from lowwater.model.policy import POLICY

PROGRAM = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "policy.py"))


@pytest.mark.parametrize("name", [one.name for one in fields(POLICY)])
def test_no_share_is_tried_beyond_all(name):
    before = getattr(POLICY, name)
    tried = [PROGRAM["multiplied"](before, factor) for factor in PROGRAM["FACTORS"]]

    assert all(value > 0 for value in tried)
    assert not isinstance(before, float) or before >= 1 or max(tried) <= 1
