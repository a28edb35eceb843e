"""`make record` keeps what a program recorded, and says what failed."""

import runpy

import pytest

from replay.recordings import RECORDINGS, Recorded

PROGRAM = """# expect: no leak
import sys
for step in range(6):
    print(step)
sys.exit({code})
"""


@pytest.fixture
def record(tmp_path, monkeypatch, capsys):
    """Runs record.py on specimens of our own; answers its exit code and what it said."""
    specimens = tmp_path / "specimens"
    specimens.mkdir()
    main = runpy.run_path(str(RECORDINGS / "record.py"))["main"]
    main.__globals__["SPECIMENS"] = specimens

    def run(*arguments, **programs):
        for name, code in programs.items():
            (specimens / f"{name}.py").write_text(PROGRAM.format(code=code))
        monkeypatch.setattr("sys.argv", ["record.py", "--to", str(tmp_path), *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().out

    return run


def runs_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("*/*.lw"))


def test_each_specimen_is_recorded_quiet_and_under_load(record, tmp_path):
    code, said = record("--jobs", "1", quick_flat=0)

    assert code == 0, said
    names = ["quick_flat/busy-1.lw", "quick_flat/busy-2.lw", "quick_flat/quiet.lw"]
    assert runs_in(tmp_path) == names
    path = tmp_path / "quick_flat" / "quiet.lw"
    recorded = Recorded("quick_flat", "quiet", path)
    assert "quick_flat.py:3" in {unit.where for unit in recorded.timeline().units}
    assert str(tmp_path).encode() not in recorded.content()


def test_what_failed_is_said_and_not_kept(record, tmp_path):
    code, said = record("--kinds", "quiet", quick_flat=0, broken_leaks=3)

    assert code == 1
    assert "failed: broken_leaks/quiet: exit code 3" in said
    assert runs_in(tmp_path) == ["quick_flat/quiet.lw"]


def test_missing_recordings_are_made_and_the_others_kept(record, tmp_path):
    kept = tmp_path / "quick_flat" / "quiet.lw"
    kept.parent.mkdir()
    kept.write_text("kept")

    code, said = record("--kinds", "quiet", "--missing", quick_flat=0, other_flat=0)

    assert code == 0, said
    assert "quiet: 1 specimens, 1 recordings kept" in said
    assert kept.read_text() == "kept"
    assert runs_in(tmp_path) == ["other_flat/quiet.lw", "quick_flat/quiet.lw"]
