"""Where experiments run, and what is kept of them."""

import pytest

from lowwater.errors import UsageError
from lowwater.experiments import workplace
from lowwater.experiments.cuts import Cuts
from lowwater.experiments.workplace import kept_folder, sandbox_in, writes_files


@pytest.mark.parametrize(
    "source",
    [
        b"model.save('model.keras')",
        b"open('log.txt', 'w').write('x')",
        b"open('log.txt', mode='a')",
        b"Path('x').write_text('y')",
        b"keras.callbacks.ModelCheckpoint('best.keras')",
    ],
)
def test_program_that_writes_is_recognised(source):
    assert writes_files(source)


@pytest.mark.parametrize(
    "source", [b"open('data.csv').read()", b"open('x', 'rb')", b"print(1)", b"("]
)
def test_program_that_only_reads_is_not(source):
    assert not writes_files(source)


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    script = folder / "train.py"
    script.write_text("print(1)\n")
    return script


def test_same_program_finds_its_recordings_again(program):
    first = kept_folder("train.py", ["--fast"], Cuts(), fresh=False)

    assert kept_folder("train.py", ["--fast"], Cuts(), fresh=False) == first


def test_other_arguments_cuts_or_sources_are_another_program(program):
    first = kept_folder("train.py", [], Cuts(), fresh=False)
    others = {kept_folder("train.py", ["-x"], Cuts(), fresh=False)}
    others.add(kept_folder("train.py", [], Cuts(epochs=3), fresh=False))
    program.write_text("print(22)\n")
    others.add(kept_folder("train.py", [], Cuts(), fresh=False))

    assert len(others) == 3
    assert first not in others


def test_fresh_forgets_what_was_kept(program, tmp_path):
    folder = kept_folder("train.py", [], Cuts(), fresh=False)
    (kept := tmp_path / folder / "base.lw").write_bytes(b"old")

    kept_folder("train.py", [], Cuts(), fresh=True)

    assert not kept.exists()


def test_experiment_in_a_sandbox_leaves_the_folder_alone(program, tmp_path):
    place = sandbox_in(str(tmp_path))("base")

    assert (tmp_path / "base" / "train.py").read_text() == "print(1)\n"
    assert place == str(tmp_path / "base")


def test_folder_that_is_too_large_is_not_copied(program, tmp_path, monkeypatch):
    monkeypatch.setattr(workplace, "_LARGEST_COPY", 3)

    with pytest.raises(UsageError, match="too large to be copied"):
        sandbox_in(str(tmp_path))
