"""What is refused before anything is started: a script, a module or an output that cannot be."""

import importlib.util
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

from lowwater.errors import UsageError
from lowwater.model.assignment import STDIN


def check_script(script: str, command: str = "run") -> None:
    """Refuse what cannot be run, before anything is started."""
    path = Path(script)
    advice = f"lowwater {command} path/to/train.py [its arguments]"
    if script == STDIN:
        return
    if path.is_dir() and not (path / "__main__.py").exists():
        msg = "the script is a folder without __main__.py"
        raise UsageError(msg, received=script, advice=advice)
    if not path.exists():
        hint = f"lowwater {command} -m {script}" if _is_module_name(script) else advice
        msg = "no such script"
        raise UsageError(msg, received=script, advice=hint)
    if not os.access(path, os.R_OK):
        msg = "the script cannot be read: permission denied"
        raise UsageError(msg, received=script, advice=f"chmod u+r {script}")


def check_output(path: str | None) -> None:
    """Refuse a file that could not be written, before hours are spent on its content."""
    if path is not None and not Path(path).absolute().parent.is_dir():
        msg = "the folder of the output file does not exist"
        raise UsageError(msg, received=path, advice=f"mkdir -p {Path(path).parent}")


def check_module(name: str) -> Path:
    """Refuse a module that is not there, without running any of its packages; else its file."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            spec = None
            break
        spec = PathFinder.find_spec(f"{spec.name}.{part}", spec.submodule_search_locations)
    if spec is None:
        msg = "no such module"
        advice = "run it from the folder that contains the package"
        raise UsageError(msg, received=name, advice=advice)
    folders = [*(spec.submodule_search_locations or ())]
    return Path(folders[0], "__main__.py") if folders else Path(spec.origin or "")


def _is_module_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split(".")) and not text.endswith(".py")
