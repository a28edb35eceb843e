"""CONTRIBUTING explains `a_holder` by a real path: that of the recorded demo."""

import re
from pathlib import Path

import pytest

from lowwater.recording.reader import load

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def recorded():
    [holder] = load(ROOT / "docs" / "demo.lw").holders
    return holder


def test_builders_on_the_page_build_the_recorded_path(recorded):
    [block] = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    names = {}
    exec(block, names)
    built = names["holder"]

    assert built.steps == recorded.steps
    assert (built.container, built.is_users) == (recorded.container, recorded.is_users)
    assert [site.where for site in built.sites] == [site.where for site in recorded.sites]


def test_table_on_the_page_has_a_row_for_each_step(recorded):
    table = PAGE.partition("| edge | class |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\|(?: `(.*?)`)? \| `(.*?)`.*?\| (.*?) \|", table, re.MULTILINE)

    assert [row[:2] for row in rows] == [(step.edge, step.type) for step in recorded.steps]
    for (_, _, told), step in zip(rows, recorded.steps, strict=True):
        assert step.about in told
        assert (step.where or "") in told
    assert f"({', then '.join(map(str, recorded.counts))})" in PAGE
