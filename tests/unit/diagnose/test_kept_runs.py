"""What is kept of experiments, and for whom."""

import os
import shutil
import time
from pathlib import Path

import pytest

from lowwater.diagnose.cuts import Cuts
from lowwater.diagnose.kept_runs import kept_runs
from lowwater.errors import UsageError


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    script = folder / "train.py"
    script.write_text("print(1)\n")
    return script


def folder_of(*arguments, cuts=None, fresh=False):
    with kept_runs("train.py", arguments, cuts or Cuts(), fresh=fresh) as folder:
        return folder


def test_same_program_finds_its_recordings_again(program):
    assert folder_of("--fast") == folder_of("--fast")


def test_other_arguments_cuts_sources_or_surroundings_are_another_program(program, monkeypatch):
    found = {folder_of(), folder_of("-x"), folder_of(cuts=Cuts(epochs=3))}
    program.write_text("print(22)\n")
    found.add(folder_of())
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    found.add(folder_of())
    program.with_name("helper.py").write_text("")
    found.add(folder_of())

    assert len(found) == 6


def test_files_of_environments_and_histories_do_not_matter(program):
    before = folder_of()
    (program.parent / ".venv").mkdir()
    (program.parent / ".venv" / "new.py").write_text("")

    assert folder_of() == before


def test_fresh_forgets_what_was_kept(program):
    (kept := Path(folder_of(), "base.lw")).write_bytes(b"old")
    folder_of()
    assert kept.exists()

    folder_of(fresh=True)

    assert not kept.exists()


def test_what_nobody_has_asked_for_in_a_month_is_forgotten(program):
    old, young = Path(folder_of("old")), Path(folder_of("young"))
    long_ago = time.time() - 40 * 24 * 3600
    os.utime(old, (long_ago, long_ago))

    folder_of()

    assert not old.exists()
    assert young.exists()


def test_one_diagnosis_of_a_program_at_a_time(program):
    with (
        kept_runs("train.py", [], Cuts()),
        pytest.raises(UsageError, match="already diagnosing"),
        kept_runs("train.py", [], Cuts()),
    ):
        pass

    assert folder_of()


def test_without_a_home_nothing_is_kept_and_the_diagnosis_is_made(program, monkeypatch):
    program.with_name("a_file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(program.with_name("a_file")))

    with kept_runs("train.py", [], Cuts()) as folder:
        assert Path(folder).is_dir()

    assert not Path(folder).exists()


def test_where_the_disk_is_full_nothing_is_kept_and_the_diagnosis_is_made(program, monkeypatch):
    usage = shutil.disk_usage(program)._replace(free=1 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)

    with kept_runs("train.py", (), Cuts()) as folder:
        assert Path(folder).is_dir()
        assert "cache" not in Path(folder).parts

    assert not os.path.exists(folder)


def modes(folder):
    """Of everything that is kept, and of the folders that were made for it."""
    return {
        str(path.relative_to(folder)): oct(path.lstat().st_mode & 0o777)
        for path in [folder, *folder.rglob("*")]
        if not path.is_symlink()
    }


def test_nobody_else_can_read_what_is_kept(program, any_umask):
    with kept_runs("train.py", (), Cuts()) as folder:
        Path(folder, "base.lw.txt").write_text("secret")

    found = modes(program.parent.parent / "cache")
    assert {mode for name, mode in found.items() if name.endswith("txt")} == {"0o600"}
    assert {mode for name, mode in found.items() if not name.endswith("txt")} == {"0o700"}


def test_what_an_earlier_release_left_open_is_closed_and_what_is_above_stays(program, any_umask):
    cache = program.parent.parent / "cache"
    old = cache / "lowwater" / "diagnose" / "0123456789abcdef"
    old.mkdir(parents=True)
    (old / "base.lw.txt").write_text("secret")
    (target := program.with_name("public.txt")).write_text("")
    (old / "link").symlink_to(target)
    for path in (target, *old.parents[:3], old, old / "base.lw.txt"):
        path.chmod(0o755)

    folder_of()

    assert {*modes(cache / "lowwater").values()} == {"0o700", "0o600"}
    assert (old / "base.lw.txt").stat().st_mode & 0o777 == 0o600
    assert cache.stat().st_mode & 0o777 == target.stat().st_mode & 0o777 == 0o755


def test_folder_of_somebody_else_is_not_used(program, monkeypatch):
    def refused(path, mode):
        raise PermissionError(path)

    monkeypatch.setattr(os, "chmod", refused)

    with kept_runs("train.py", (), Cuts()) as folder:
        assert "cache" not in Path(folder).parts
