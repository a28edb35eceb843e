"""The script that prints a recorded path for the test of a cause."""

import importlib.util
from pathlib import Path

from lowwater import testing
from lowwater.recording.reader import load

TESTS = Path(__file__).parents[1]
DEMO = TESTS.parent / "docs" / "demo.lw"


def test_printed_path_builds_the_recorded_one(capsys):
    spec = importlib.util.spec_from_file_location("paths", TESTS / "recordings" / "paths.py")
    assert spec is not None
    assert spec.loader is not None
    paths = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(paths)

    paths.main(str(DEMO))

    [recorded] = load(DEMO).holders
    built = eval(capsys.readouterr().out, vars(testing))  # noqa: S307 - our own output
    assert built.steps == recorded.steps
    assert built.container == recorded.container
    assert built.is_users == recorded.is_users
    assert built.sites[0].where == recorded.sites[0].where
