"""What a user may import. A change here is a change for every user: say so in the news."""

import importlib.metadata
import importlib.resources
import subprocess
import sys

import pytest

import lowwater

PUBLIC = [
    "__version__",
    "boundary",
    "devices",
    "footprint",
    "holdings",
    "isolated",
    "joblib_backend",
    "largest_batch",
    "lifecycle",
    "map",
    "memory",
    "mend",
    "release",
    "sessions",
]


def test_public_names_are_the_committed_list():
    assert sorted(lowwater.__all__) == PUBLIC


def test_public_names_exist():
    assert [name for name in PUBLIC if not hasattr(lowwater, name)] == []


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = lowwater.no_such_name


def test_giving_memory_back_imports_no_framework_and_no_numpy():
    program = (
        "import lowwater, sys; lowwater.release(); lowwater.sessions()\n"
        "with lowwater.lifecycle(): pass\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()

    assert {"tensorflow", "keras", "jax", "torch", "numpy", "scipy"}.isdisjoint(loaded)


def test_version_is_that_of_the_installed_package():
    assert lowwater.__version__ == importlib.metadata.version("lowwater")


@pytest.mark.parametrize(
    "file", ["py.typed", "report/report.schema.json", "report/footprint.schema.json"]
)
def test_package_ships_the_files_that_users_rely_on(file):
    assert importlib.resources.files(lowwater).joinpath(file).is_file()


def test_importing_lowwater_imports_no_framework_and_no_numpy():
    program = (
        "import lowwater, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()

    assert "lowwater" in loaded
    assert {"tensorflow", "keras", "jax", "torch", "numpy", "scipy"}.isdisjoint(loaded)


def loaded_for(*command: str) -> list[str]:
    """The parts of Lowwater in which memory is given back that a command has loaded."""
    told = subprocess.run(
        [sys.executable, "-X", "importtime", *command], capture_output=True, text=True, check=True
    ).stderr
    names = [line.rpartition("|")[2].strip() for line in told.splitlines()]
    return [name for name in names if name.startswith("lowwater.giveback")]


@pytest.mark.parametrize("program", ["import lowwater", "from lowwater import boundary"])
def test_program_has_all_that_gives_memory_back_before_its_first_call(program):
    calls = "import lowwater\nlowwater.release()\nwith lowwater.lifecycle(): pass"

    assert loaded_for("-c", program)
    assert loaded_for("-c", f"{program}\n{calls}") == loaded_for("-c", program)


@pytest.mark.parametrize(
    "command",
    [
        ("-c", "from lowwater.agent.agent import main"),
        ("-c", "import lowwater.cli"),
        ("-m", "lowwater"),
    ],
)
def test_our_own_doors_load_nothing_that_gives_memory_back(command):
    assert loaded_for(*command, "--version") == []
