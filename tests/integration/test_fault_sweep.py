"""Wherever Lowwater fails inside the program, the program is as it would be without us.

The short form: the first call of each function, each kind of fault. `make bench` has the long one.
"""

import runpy
from pathlib import Path

import pytest

SWEEP = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "faults.py"))
FAULTS = [one for one in SWEEP["faults"]() if one.kind in ("exception", "signal")]


@pytest.fixture(scope="module")
def plain():
    return SWEEP["plain"]()


def test_the_program_itself_ends_as_it_should(plain):
    assert plain.returncode == 7
    assert plain.stderr == ""
    assert plain.stdout.endswith("statuses [3] kept 36 collector True\nsignals 0 0\n")


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_the_program_does_not_notice(fault, plain):
    seen, has_fired = SWEEP["injected"](fault)

    assert has_fired, "nothing was injected: is the function still called?"
    assert SWEEP["is_held"](fault, seen, plain), seen
