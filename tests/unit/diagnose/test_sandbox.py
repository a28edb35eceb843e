"""Each run in a folder of its own."""

import os
from pathlib import Path

import pytest

from lowwater.diagnose import sandbox
from lowwater.diagnose.sandbox import sandboxes
from lowwater.errors import UsageError


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "a.txt").write_text("here")
    monkeypatch.chdir(folder)
    return folder


def test_what_is_written_there_is_gone_after_the_run_and_the_folder_is_left_alone(project):
    with sandboxes()() as folder:
        assert os.path.basename(folder) == "project"
        with open(os.path.join(folder, "data", "a.txt"), "a") as file:
            file.write(" and there")
        with open(os.path.join(folder, "new"), "w") as file:
            file.write("x")

    assert not os.path.exists(folder)
    assert (project / "data" / "a.txt").read_text() == "here"
    assert not (project / "new").exists()


def test_what_cannot_be_copied_or_is_not_needed_is_left_out(project):
    (project / ".git").mkdir()
    os.mkfifo(project / "pipe")
    (project / "nowhere").symlink_to("missing")

    with sandboxes()() as folder:
        assert {*os.listdir(folder)} == {"data", "nowhere"}


def test_folder_that_is_too_large_is_not_copied(project, monkeypatch):
    monkeypatch.setattr(sandbox, "_LARGEST_COPY", 3)

    with pytest.raises(UsageError, match="too large to copy"):
        sandboxes()


@pytest.fixture
def elsewhere(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "b.txt").write_text("there")
    return folder


def test_what_is_written_through_a_link_stays_in_the_copy(project, elsewhere):
    (project / "linked").symlink_to(elsewhere)
    (project / "b.txt").symlink_to(elsewhere / "b.txt")
    (project / "later").symlink_to(elsewhere / "later.txt")

    with sandboxes()() as folder:
        assert not os.path.lexists(f"{folder}/later")
        for name in ("linked/b.txt", "linked/new.txt", "b.txt", "later"):
            with open(os.path.join(folder, name), "a") as file:
                file.write(" and here")
        assert Path(f"{folder}/b.txt").read_text() == "there and here"
        os.remove(f"{folder}/linked/b.txt")

    assert os.listdir(elsewhere) == ["b.txt"]
    assert (elsewhere / "b.txt").read_text() == "there"


@pytest.mark.parametrize("text", ["data/a.txt", "../project/data/a.txt", "{project}/data/a.txt"])
def test_link_inside_the_folder_is_one_inside_the_copy(project, text):
    (project / "link").symlink_to(text.format(project=project))

    with sandboxes()() as folder:
        assert os.readlink(f"{folder}/link") == "data/a.txt"
        with open(f"{folder}/link", "w") as file:
            file.write("x")
        assert Path(f"{folder}/data/a.txt").read_text() == "x"

    assert (project / "data" / "a.txt").read_text() == "here"


def test_links_in_a_circle_and_to_folders_above_end(project, elsewhere):
    (project / "a").symlink_to("b")
    (project / "b").symlink_to("a")
    (project / "out").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(project)
    (elsewhere / "self").symlink_to(elsewhere)
    (project / "above").symlink_to("..")

    with sandboxes()() as folder:
        assert os.path.samefile(f"{folder}/out/back", folder)
        assert os.path.samefile(f"{folder}/out/self", f"{folder}/out")
        assert Path(f"{folder}/above/elsewhere/b.txt").read_text() == "there"
        assert os.path.samefile(f"{folder}/above/elsewhere/back", folder)


def test_link_to_where_copies_are_made_does_not_copy_the_copy(project, tmp_path, monkeypatch):
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr(sandbox.tempfile, "tempdir", str(copies))
    (project / "link").symlink_to(copies)

    with sandboxes()() as folder:
        assert os.listdir(f"{folder}/link") == []


def test_hard_link_to_a_file_elsewhere_is_a_file_of_its_own(project, elsewhere):
    os.link(elsewhere / "b.txt", project / "same.txt")

    with sandboxes()() as folder, open(f"{folder}/same.txt", "w") as file:
        file.write("x")

    assert (elsewhere / "b.txt").read_text() == "there"


def test_link_to_something_too_large_is_refused_by_its_name(project, elsewhere, monkeypatch):
    monkeypatch.setattr(sandbox, "_LARGEST_COPY", 20)
    (elsewhere / "large").write_bytes(bytes(100))
    (project / "data" / "images").symlink_to(elsewhere)

    with pytest.raises(UsageError, match=r"the target of the link data/images is too large"):
        sandboxes()


def test_folder_that_may_not_be_written_to_is_copied_as_it_is(project):
    (project / "data").chmod(0o500)

    with sandboxes()() as folder:
        assert os.stat(f"{folder}/data").st_mode & 0o777 == 0o500
        assert os.listdir(f"{folder}/data") == ["a.txt"]

    assert not os.path.exists(folder)


def test_nobody_else_can_look_into_a_copy(project, any_umask):
    with sandboxes()() as folder:
        assert os.stat(os.path.dirname(folder)).st_mode & 0o777 == 0o700
