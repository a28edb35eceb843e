"""`lowwater demo`: a leak and its twin, diagnosed before your eyes."""

import importlib.util
import os
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path

import click

from lowwater.cli._output import print_diagnosis, say
from lowwater.errors import UsageError
from lowwater.model.assignment import Assignment
from lowwater.recording.recording_file import recording_at
from lowwater.supervisor.launch import launch
from lowwater.supervisor.session import live_line, watch, with_source

# The part of the program that matters, shown before it runs.
_FIRST_WORDS, _LAST_WORDS = "class ", "keras.utils.set_random_seed"


@click.command()
@click.option(
    "--mended",
    is_flag=True,
    help="Run the fixed version, which keeps a number instead of the arrays.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show all details in the final report.")
def command(*, mended: bool, verbose: bool) -> None:
    """Watch a small program that leaks, and print the diagnosis."""
    if importlib.util.find_spec("keras") is None:
        msg = "the demo trains a small Keras model, but Keras is not installed"
        raise UsageError(msg, advice="pip install 'lowwater[tensorflow]'")
    name = "mended.py" if mended else "leaking.py"
    source = (files("lowwater.cli._demo") / name).read_text(encoding="utf-8")
    say(_excerpt(source))
    say(f"$ lowwater run {name}")
    # TensorFlow greets with several lines about the processor; here they are in the way.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as folder, recording_at(None) as place:
        Path(folder, name).write_text(source, encoding="utf-8")
        os.chdir(folder)
        assignment = Assignment(name, [], is_module=False, recording=place.path)
        began_s = time.time()
        child = launch(assignment)
        with live_line(sys.stderr) as line:
            diagnosis, outcome = watch(child, place.path, line)
        diagnosis = with_source(diagnosis, assignment, began_s)
    say()
    print_diagnosis(diagnosis, sys.stdout, verbose=verbose)
    if not mended:
        say("\nThis was a demo. With one line changed, the program does not leak:")
        say("  lowwater demo --mended")
    sys.exit(outcome.exit_code)


def _excerpt(source: str) -> str:
    """The callback, without the rest of the script."""
    lines = source[source.index(_FIRST_WORDS) : source.index(_LAST_WORDS)].rstrip().splitlines()
    return "\n".join(f"  {line}".rstrip() for line in lines) + "\n"
