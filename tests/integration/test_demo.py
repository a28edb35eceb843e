"""The first thing that a user sees."""

import re

import pytest

from how_to import README, text_of

pytestmark = pytest.mark.tensorflow


def words_of(text):
    """What a screen says, line breaks and numbers that vary aside: the overhead is all numbers."""
    said = text[text.index("LEAK  ") :].partition("This was a demo.")[0]
    said = re.sub(r"Overhead: .*?time\)\.", "", said, flags=re.DOTALL)
    said = re.sub(r"~?\d[\d.]*( [KM]iB)?|[▁-█]", "#", said)
    return re.sub(r"[\s#]+", " ", said).split()


def test_demo_blames_the_line_that_leaks_as_readme_shows(programs):
    done = programs.lowwater("demo")

    assert done.returncode == 0, done.stderr
    assert "LEAK  +4." in done.stdout
    assert "LW101 callback-retention   leaking.py:17" in done.stdout
    assert "lowwater demo --mended" in done.stdout
    [shown] = re.findall(r"^```text\n(LEAK  .*?)^```", text_of(README), re.DOTALL | re.MULTILINE)
    assert words_of(done.stdout) == words_of(shown)


def test_mended_demo_is_acquitted(programs):
    done = programs.lowwater("demo", "--mended")

    assert done.returncode == 0, done.stderr
    assert "NO LEAK" in done.stdout
    assert "lowwater demo --mended" not in done.stdout
