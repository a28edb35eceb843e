"""`lowwater demo`: a leak and its twin, diagnosed before your eyes."""

import importlib.util
import os
import sys
from importlib.resources import as_file, files

import click

from lowwater.assignment import Assignment
from lowwater.cli._output import print_diagnosis
from lowwater.errors import UsageError
from lowwater.launch import launch, recording_at
from lowwater.session import watch


@click.command()
@click.option("--mended", is_flag=True, help="Run the twin that keeps a number, not the arrays.")
def command(*, mended: bool) -> None:
    """Watch a small Keras program that leaks, and print the diagnosis."""
    if importlib.util.find_spec("keras") is None:
        msg = "the demo trains a small Keras model, and Keras is not installed"
        raise UsageError(msg, advice="pip install 'lowwater[tensorflow]'")
    name = "mended.py" if mended else "leaking.py"
    click.echo(f"$ lowwater run {name}      # a callback that looks at every epoch's predictions")
    # TensorFlow greets with several lines about the processor; here they are in the way.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with as_file(files("lowwater.demo") / name) as script, recording_at(None) as recording:
        child = launch(Assignment(str(script), [], is_module=False, recording=recording))
        diagnosis, outcome = watch(child, recording, sys.stderr)
    click.echo()
    print_diagnosis(diagnosis, sys.stdout)
    if not mended:
        click.echo("This was a demonstration. Its twin with one line changed does not leak:")
        click.echo("  lowwater demo --mended")
    sys.exit(outcome.exit_code)
