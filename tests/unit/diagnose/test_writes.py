"""What has changed in a folder, and what of it is the program's own."""

import os

import pytest

from lowwater.diagnose import writes
from lowwater.diagnose.writes import Listing, Writes, facts_of, named
from lowwater.model.experiment import Fact


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("data/a.txt", "model.h5", ".git/index"):
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("old")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def told(changed=(), opened=()):
    return {**named(Fact.CHANGED, changed), **named(Fact.OPENED, opened)}


def test_what_is_new_gone_or_changed_is_told_without_any_event(folder):
    before = Listing(str(folder))
    (folder / "data" / "a.txt").unlink()
    with open(folder / "model.h5", "r+") as file:
        file.write("new")
    os.utime(folder / "model.h5", (0, 0))
    (folder / "logs" / "train").mkdir(parents=True)
    (folder / "logs" / "train" / "events").write_text("")
    (folder / "empty").mkdir()
    (folder / ".git" / "index").write_text("changed")

    assert before.changes_to(Listing(str(folder))) == [
        "data/a.txt", "empty", "logs/train/events", "model.h5",
    ]  # fmt: skip
    assert Listing(str(folder)).changes_to(Listing(str(folder))) == []


def test_of_a_part_of_a_large_folder_only_changes_are_told(folder, monkeypatch):
    monkeypatch.setattr(writes, "_MOST_COMPARED", 2)
    before = Listing(str(folder))
    (folder / "zzz").write_text("")
    (folder / "model.h5").write_text("newer")

    assert before.changes_to(Listing(str(folder))) == ["model.h5"]


def test_file_that_came_and_went_is_not_told(folder, tmp_path):
    (folder / "out").symlink_to(tmp_path)
    before = Listing(str(folder))

    # Behind a link nothing was compared.
    opened = told(opened=["gone.txt", "model.h5", "out/gone.txt", "/data/gone.txt"])
    facts = facts_of(before, Listing(str(folder)), opened)

    assert facts["opened"] == [b"model.h5", b"out/gone.txt", b"/data/gone.txt"]


def test_files_in_the_folder_and_elsewhere_are_told_apart_and_each_once():
    found = Writes.of(told(["a.txt"], ["a.txt", "b.txt", "/data/c.txt"]), "/ours")

    assert found == Writes(("a.txt", "b.txt"), ("/data/c.txt",))
    assert found
    assert not Writes.of({}, "/ours")


def test_caches_and_our_own_files_are_not_the_program_s(folder, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_CACHE_HOME", "/scratch/cache")
    kept = str(folder / "cache" / "lowwater")
    names = [
        "__pycache__/x.pyc", "/lib/site-packages/x.json", "cache/lowwater/base.lw",
        "/home/ada/.keras/keras.json", "/home/ada/.nv/x", "/scratch/cache/hub/x",
    ]  # fmt: skip

    assert not Writes.of(told(opened=names), kept)
    assert Writes.of(told(opened=["/home/ada/model.h5"]), kept).outside == ("/home/ada/model.h5",)
