"""`lowwater footprint`: what is nonsense is refused before anything runs."""

import os
import sys

import pytest
from click.testing import CliRunner

from lowwater.cli import COMMANDS, cli
from lowwater.errors import UsageError


def run(*arguments):
    return CliRunner().invoke(cli, ["footprint", *arguments])


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A program in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def write(source):
        (tmp_path / "train.py").write_text(source)
        return "train.py"

    return write


def error_of(done):
    assert isinstance(done.exception, UsageError | Exception)
    return str(done.exception)


def test_footprint_is_a_command():
    assert "footprint" in COMMANDS


@pytest.mark.parametrize("limit", ["abc", "-3", "0", "", "8 XB", "nan"])
def test_nonsense_limit_is_one_sentence(script, limit):
    done = run("--limit", limit, script("raise SystemExit('must not run')"))

    assert error_of(done) == (
        f'--limit must be more than 0 (received: {limit!r}). Try: --limit "8 GiB"'
    )


@pytest.mark.parametrize("option", ["--batch-size", "--need-batch"])
@pytest.mark.parametrize("given", ["0", "-1", "many"])
def test_nonsense_batch_is_one_sentence(script, option, given):
    done = run(option, given, script(""))

    assert error_of(done).startswith(f"{option} must be a whole number above 0 (received: ")


def test_script_that_is_not_there_is_named():
    assert "no such script" in error_of(run("missing.py"))


def test_script_without_a_fit_is_one_sentence(script):
    done = run(script("print('done')"))

    assert error_of(done) == (
        "train.py ended without training a Keras model, so there is no step to measure "
        "(received: no call of fit or train_on_batch). "
        "Try: lowwater.footprint(model, x, y) in the program"
    )
    assert done.exception.exit_code == 2


def test_script_that_crashes_before_its_fit_is_one_sentence_below_its_traceback(script, capfd):
    done = run(script("def load():\n    raise KeyError('data')\nload()\n"))

    assert error_of(done) == (
        "train.py failed before its first fit (see above) (received: exit code 1). "
        "Try: python train.py, until it trains"
    )
    shown = capfd.readouterr().err
    assert "KeyError: 'data'" in shown
    assert "at_first_fit" not in shown, "frames of ours are none of the user's business"


def test_script_gets_its_own_arguments_and_environment(script, capfd):
    run(script("import sys; print(sys.argv, __name__)"), "--epochs", "3")

    assert "['train.py', '--epochs', '3'] __main__" in capfd.readouterr().out


def test_module_is_run_as_python_does(script, tmp_path, monkeypatch, capfd):
    script("print('as a module', __spec__.name)")
    monkeypatch.syspath_prepend(tmp_path)
    # The tests run with -P, which the child is given as well.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))

    run("-m", "train")

    assert "as a module train" in capfd.readouterr().out


def test_folder_of_the_json_file_must_be_there(script):
    done = run("--json", "missing/out.json", script(""))

    assert "the folder of the output file does not exist" in error_of(done)
