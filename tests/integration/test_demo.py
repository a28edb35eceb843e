"""The first thing that a user sees."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_demo_blames_the_line_that_leaks(programs):
    done = programs.lowwater("demo")

    assert done.returncode == 0, done.stderr
    assert "LEAK  +4." in done.stdout
    assert "LW101 callback-retention   leaking.py:17" in done.stdout
    assert "lowwater demo --mended" in done.stdout


def test_mended_demo_is_acquitted(programs):
    done = programs.lowwater("demo", "--mended")

    assert done.returncode == 0, done.stderr
    assert "NO LEAK" in done.stdout
    assert "lowwater demo --mended" not in done.stdout
