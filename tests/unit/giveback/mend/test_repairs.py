"""Every repair says what it is for; those of TensorFlow refuse what is not TensorFlow."""

import subprocess
import sys
from pathlib import Path

import pytest

from lowwater.causes.upstream import KNOWN_LEAKS
from lowwater.giveback.mend import _repairs
from lowwater.giveback.mend._repair import Repair
from lowwater.giveback.mend._repairs import REPAIRS

FILES = {path.stem for path in Path(_repairs.__file__).parent.glob("[!_]*.py")}
BY_CODE = pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.leak.code)


def test_every_repair_file_is_in_the_list():
    assert {repair.leak.name.replace("-", "_") for repair in REPAIRS} == FILES


@BY_CODE
def test_repair_is_for_a_known_leak_and_documents_itself(repair):
    assert repair.leak in KNOWN_LEAKS
    assert repair.leak.is_in(".".join(map(str, repair.last)))
    assert type(repair).__doc__ != Repair.__doc__


@BY_CODE
def test_releases_are_told_as_a_user_writes_them(repair):
    assert repair.known == "2.16 to 2.21"
    assert repair.is_known_right_for("2.16.2")
    assert repair.is_known_right_for("2.21.0")
    assert not repair.is_known_right_for("2.15.1")
    assert not repair.is_known_right_for("2.22.0-rc0")
    assert not repair.is_known_right_for("3.0.0")


PROGRAM = """\
import sys, types
library = types.ModuleType("tensorflow")
library.__version__ = sys.argv[1]
sys.modules["tensorflow"] = library
import lowwater
before = [*sys.meta_path]
print(lowwater.mend())
assert sys.meta_path == before and "numpy" not in sys.modules
"""


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("2.99.0", "TensorFlow 2.99.0; the repair was tested on 2.16 to 2.21 only"),
        ("2.21.0", "TensorFlow 2.21.0 does not look as expected: KeyError: 'tensorflow.python."),
    ],
)
def test_what_only_calls_itself_tensorflow_is_left_alone(version, reason):
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, version], capture_output=True, text=True, check=True
    ).stdout

    assert len(said.splitlines()) == len(REPAIRS)
    assert all(f"({reason}" in line for line in said.splitlines())
    assert said.startswith("Not mended: LW205 gradient registry (")


def test_without_a_framework_nothing_is_imported():
    program = (
        "import sys, lowwater; mended = lowwater.mend(); print(mended); mended.undo();"
        "print(mended);"
        "print({'tensorflow', 'keras', 'numpy', 'jax', 'torch'} & {*sys.modules} or 'none')"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout

    assert said == (
        "Waiting: LW205 gradient registry (TensorFlow is not imported yet)\n"
        "Waiting: LW209 eager cache (TensorFlow is not imported yet)\n"
        "Undone: LW205 gradient registry (TensorFlow is not imported yet)\n"
        "Undone: LW209 eager cache (TensorFlow is not imported yet)\n"
        "none\n"
    )
