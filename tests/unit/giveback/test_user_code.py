import pytest

from lowwater.giveback.user_code import is_users


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
