import os

import pytest

import lowwater
from lowwater.model.user_code import is_users


@pytest.mark.parametrize(
    "path",
    [
        "/home/ada/.local/lib/python3.11/site-packages/keras/model.py",
        "/usr/lib/python3/dist-packages/numpy/core.py",
        "/opt/base/lib/python3.11/site-packages/tensorflow/__init__.py",
    ],
)
def test_library_that_is_installed_elsewhere_is_not_the_programs(path):
    assert not is_users(path)


def test_file_of_the_program_is_the_programs():
    assert is_users("/home/ada/site-packages-study/train.py")


@pytest.mark.parametrize("path", [os.__file__, lowwater.__file__, "<frozen importlib._bootstrap>"])
def test_python_and_lowwater_are_not_the_programs(path):
    assert not is_users(path)


def test_script_reached_by_a_link_out_of_an_environment_is_judged_where_it_lies(tmp_path):
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "library.py").touch()
    (tmp_path / "mine.py").symlink_to(packages / "library.py")

    assert not is_users(str(tmp_path / "mine.py"))


def test_code_without_a_file_is_the_programs():
    assert is_users("<stdin>")
