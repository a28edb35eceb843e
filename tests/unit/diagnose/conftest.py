"""What tests of experiments share."""

import os

import pytest


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def any_umask(request):
    """The mask of the user's shell, open or strict."""
    before = os.umask(request.param)
    yield
    os.umask(before)
