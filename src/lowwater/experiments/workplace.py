"""Where experiments run and where their recordings are kept."""

import ast
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from lowwater.errors import UsageError
from lowwater.experiments.cuts import Cuts

# Calls that leave a file behind, by their last name.
_WRITERS = frozenset(
    (
        "save save_weights export savez savez_compressed savefig to_csv to_parquet to_pickle dump "
        "write_text write_bytes mkdir makedirs ModelCheckpoint CSVLogger TensorBoard "
        "BackupAndRestore SummaryWriter create_file_writer"
    ).split()
)
_WRITING_MODES = frozenset("wax")
_MOST_FILES = 500
_LARGEST_COPY = 500 << 20


def writes_files(source: bytes) -> bool:
    """Whether a program looks as if it wrote files."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return False
    return any(_writes(node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def kept_folder(script: str, arguments: Sequence[str], cuts: Cuts, *, fresh: bool) -> str:
    """The folder of the recordings: the same for the same program, so that it can go on."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    digest = hashlib.sha256()
    for part in (os.getcwd(), sys.executable, script, *arguments, *map(str, astuple(cuts))):
        digest.update(part.encode(errors="surrogateescape") + b"\0")
    for file in _sources(script):
        digest.update(file.encode(errors="surrogateescape") + _stamp(file))
    folder = os.path.join(cache, "lowwater", "diagnose", digest.hexdigest()[:16])
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"The recordings cannot be kept in {folder}",
            received=error.strerror or str(error),
            advice="XDG_CACHE_HOME=/tmp lowwater diagnose …",
        ) from None
    return folder


def sandbox_in(folder: str) -> Callable[[str], str]:
    """Gives each experiment a copy of the present folder."""
    here = os.getcwd()
    size = sum(_size(file) for file in Path(here).rglob("*"))
    if size > _LARGEST_COPY:
        raise UsageError(
            "This folder is too large to be copied for every experiment",
            received=f"{size >> 20} MiB",
            advice="start it from a smaller one, or without --sandbox",
        )

    def place(name: str) -> str:
        target = os.path.join(folder, name)
        shutil.copytree(here, target, symlinks=True)
        return target

    return place


def _writes(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            pass
        case _:
            return False
    if name == "open":
        given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
        modes = [one.value for one in given if isinstance(one, ast.Constant)]
        return any(isinstance(mode, str) and _WRITING_MODES & {*mode} for mode in modes)
    return name in _WRITERS


def _sources(script: str) -> Iterator[str]:
    """The program's files, as far as they lie beside the script."""
    folder = Path(script).resolve().parent if os.path.exists(script) else Path.cwd()
    for number, file in enumerate(sorted(folder.glob("**/*.py"))):
        if number == _MOST_FILES:
            return
        yield str(file)


def _stamp(file: str) -> bytes:
    try:
        status = os.stat(file)
    except OSError:
        return b""
    return f"{status.st_mtime_ns} {status.st_size}\0".encode()


def _size(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:
        return 0
