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
    "isolated",
    "joblib_backend",
    "lifecycle",
    "map",
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


@pytest.mark.parametrize("file", ["py.typed", "report/report.schema.json"])
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
