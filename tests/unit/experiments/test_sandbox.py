"""Each run in a folder of its own."""

import os

import pytest

from lowwater.errors import UsageError
from lowwater.experiments import sandbox
from lowwater.experiments.sandbox import sandboxes


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

    with pytest.raises(UsageError, match="too large to be copied"):
        sandboxes()
