"""Whether a program looks as if it wrote files: it will write them in every run."""

import ast
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

# Calls that leave a file behind, or take one away, by their last name.
_WRITERS = frozenset(
    (
        "save save_model save_weights export savez savez_compressed savetxt savefig to_csv "
        "to_parquet to_pickle to_hdf dump write_text write_bytes mkdir makedirs ModelCheckpoint "
        "CSVLogger TensorBoard BackupAndRestore SummaryWriter create_file_writer TFRecordWriter "
        "CheckpointManager FileHandler rmtree copyfile copytree unlink renames symlink_to"
    ).split()
)
# Names that lists, data frames and queues have as well: only as functions of these modules.
_OF_MODULES = frozenset({("os", "remove"), ("os", "rename"), ("os", "replace"), ("shutil", "move")})
# Called like `open`, with the mode behind the name: `h5py.File("x.h5", "w")`.
_OPENERS = frozenset({"open", "File", "ZipFile"})
# Of one package: it could be the source of a framework.
_MOST_FILES = 500
_WRITING_MODES = frozenset("wax")


def writes_files(script: Path) -> bool:
    """By its source, and that of the modules beside it that it imports."""
    return any(_looks_like_it(file) for file in (script, *_imported(script)))


def _looks_like_it(file: Path) -> bool:
    return any(_writes(node) for node in _nodes(file) if isinstance(node, ast.Call))


def _imported(script: Path) -> Iterator[Path]:
    """Modules beside it, and those of packages beside it, whichever of them is meant."""
    names = {name.partition(".")[0] for node in _nodes(script) for name in _names(node)}
    for name in sorted(names):
        beside = script.parent / f"{name}.py"
        package = islice((script.parent / name).rglob("*.py"), _MOST_FILES)
        yield from [beside] if beside.is_file() else sorted(package)


def _names(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(name)):
            return [name]
    return []


def _nodes(file: Path) -> Iterator[ast.AST]:
    try:
        return ast.walk(ast.parse(file.read_bytes()))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return iter(())


def _writes(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            pass
        case _:
            return False
    if name in _OPENERS:
        given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
        # `path.open("w")` has the mode first.
        given += call.args[:1] if isinstance(call.func, ast.Attribute) else []
        modes = [one.value for one in given if isinstance(one, ast.Constant)]
        return any(isinstance(mode, str) and _is_writing(mode) for mode in modes)
    return name in _WRITERS or _is_of_module(call.func)


def _is_of_module(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(ast.Name(module), name):
            return (module, name) in _OF_MODULES
    return False


def _is_writing(mode: str) -> bool:
    return bool(_WRITING_MODES & {*mode}) and {*mode} <= {*"rwaxbt+"}
