"""Options behind the script."""

import click
import pytest

from lowwater.cli._trailing_options import WithTrailingOptions


@click.command(
    cls=WithTrailingOptions,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("-m", "is_module", is_flag=True)
@click.option("--epochs", default=12)
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(is_module, epochs, script, arguments):
    return is_module, epochs, script, arguments


def parsed(*args):
    return command.main([*args], standalone_mode=False)


@pytest.fixture
def script(tmp_path):
    (script := tmp_path / "train.py").write_text("import keras\n")
    return str(script)


@pytest.mark.parametrize("read", ["import argparse", "import sys; sys.argv", "import fire"])
def test_they_are_those_of_a_script_that_reads_its_command_line(script, tmp_path, read):
    (tmp_path / "train.py").write_text(read)

    assert parsed(script, "--epochs", "3") == (False, 12, script, ("--epochs", "3"))


def test_they_are_ours_where_the_script_reads_none(script):
    assert parsed(script, "--epochs", "3") == (False, 3, script, ())
    assert parsed("--epochs", "5", script) == (False, 5, script, ())


def test_module_beside_the_script_may_read_the_command_line(script, tmp_path):
    (tmp_path / "options.py").write_text("import argparse")

    assert parsed(script, "--epochs", "3") == (False, 12, script, ("--epochs", "3"))


@pytest.mark.parametrize("behind", [("--lr", "3"), ("file.csv",), ("--epochs", "3", "file.csv")])
def test_what_we_do_not_know_is_the_scripts_own(script, behind):
    assert parsed(script, *behind) == (False, 12, script, behind)


def test_module_and_missing_script_are_left_alone(tmp_path):
    missing = str(tmp_path / "missing.py")

    assert parsed("-m", "train", "--epochs", "3") == (True, 12, "train", ("--epochs", "3"))
    assert parsed(missing, "--epochs", "3") == (False, 12, missing, ("--epochs", "3"))
