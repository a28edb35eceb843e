"""The walls of docs/architecture.md: imports point down, and the agent starts lightly."""

import ast
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

# The rooms, in the order in which the data pass through them. Nothing else is at the top level but
# the front, `python -m lowwater`, the errors that a program may catch, and the builders for tests.
ROOMS = {
    "model": "the words: what is measured, held, judged and found",
    "agent": "all that runs inside the user's process",
    "probes": "one file per source of numbers",
    "recording": "the file in the middle: written by the agent, read by everybody else",
    "supervisor": "the process beside the user's",
    "verdict": "is it a leak, and where is the memory",
    "causes": "who holds it, and how to fix it",
    "check": "the same causes, found in source that was not run",
    "diagnose": "the debugging checklist as experiments",
    "giveback": "release, lifecycle, mend: memory comes back",
    "isolation": "a fresh process for each trial",
    "sizing": "what a training step takes, and the largest batch that fits",
    "report": "a diagnosis becomes text or JSON",
    "cli": "one file per command",
}
FRONT = {"__init__", "__main__", "errors", "testing"}

# Layer -> the rooms, or parts of them, that live in it, lowest first. The longest name counts.
LAYERS = {
    "words": {"model", "errors", "report.screen"},
    "observe": {"agent", "probes", "recording"},
    "judge": {
        "verdict", "causes", "check",
        "diagnose.compare", "diagnose.conclude", "diagnose.measure", "diagnose.says",
        "sizing.answer", "sizing.curve", "sizing.extension", "sizing.forecast", "sizing.found",
        "sizing.largest", "sizing.need", "sizing.parts", "sizing.peak_line", "sizing.pool_peaks",
        "sizing.simulated_pool", "sizing.table",
    },
    "act": {
        "giveback", "diagnose", "isolation", "sizing",
        "check.cache", "check.config", "check.mending", "check.modules", "check.run",
        "check.walk",
    },
    "tell": {"report"},
    # What puts the parts together, in the user's process and beside it.
    "compose": {
        "agent.agent", "agent.autopsy", "supervisor", "diagnose.checklist", "diagnose.lab",
        "diagnose.rerun",
    },
    "doors": {"cli", "__init__", "__main__", "testing"},
}  # fmt: skip

# Layer -> the layers it may import. Judge and tell are pure: they never see the running program.
MAY_IMPORT = {
    "words": {"words"},
    "observe": {"words", "observe"},
    "judge": {"words", "judge"},
    "act": {"words", "observe", "judge", "act"},
    "tell": {"words", "judge", "tell"},
    "compose": {"words", "observe", "judge", "act", "tell", "compose"},
    "doors": set(LAYERS),
}

# Never imported at module level: only inside functions, and only if the program did it first.
FRAMEWORKS = {"tensorflow", "keras", "tf_keras", "jax", "torch"}

# Of an extra: imported inside functions, and only where it is installed.
EXTRAS = {"memray", "optuna", "keras_tuner", "sklearn", "joblib", "ray", "pynvml"}

# Run by `lowwater demo` as a user's script would be, and never imported by us.
PROGRAMS = {"cli._demo.leaking", "cli._demo.mended"}

# What the user's process loads before the user's script. NumPy would read OMP_NUM_THREADS
# before the script can set it, and every import here is waiting time for the user.
AGENT_SIDE = {
    "__init__", "agent", "causes.upstream", "giveback.mend", "model", "probes", "recording",
}  # fmt: skip
AGENT_MAY_IMPORT = {*sys.stdlib_module_names, "lowwater", "msgspec"}

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
LAYER_OF = {name: layer for layer, names in LAYERS.items() for name in names}


@dataclass(frozen=True)
class Import:
    """One imported module, with the line that imports it."""

    module: str
    line: int
    at_module_level: bool

    @property
    def top(self):
        return self.module.partition(".")[0]


@dataclass(frozen=True)
class Module:
    """One file of the package, by its dotted name below `lowwater`."""

    name: str
    imports: tuple[Import, ...]

    @property
    def part(self):
        """The entry of LAYERS that this file belongs to."""
        return part_of(self.name, LAYER_OF)


def part_of(name, parts):
    """The longest of these parts that a dotted name is in; its room where there is none."""
    words = name.split(".")
    longest_first = (".".join(words[:count]) for count in range(len(words), 0, -1))
    return next((part for part in longest_first if part in parts), words[0])


def parsed(name, source, modules=frozenset()):
    """The imports of one file; `modules` are the dotted names that `from x import y` may mean."""
    found = tuple(_imports(ast.parse(source), modules, at_module_level=True))
    return Module(name, found)


def _imports(node, modules, *, at_module_level) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, at_module_level)
        elif isinstance(child, ast.ImportFrom):
            # A relative import has no place in the table; the dot makes it stand out.
            base = "." * child.level + (child.module or "")
            for alias in child.names:
                full = f"{base}.{alias.name}"
                is_module = full in modules or (base == "lowwater" and alias.name in ROOMS)
                yield Import(full if is_module else base, child.lineno, at_module_level)
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            runs = at_module_level and not inside and not _is_for_type_checkers(child)
            yield from _imports(child, modules, at_module_level=runs)


def _is_for_type_checkers(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def wall_crossings(module):
    """Imports of `lowwater` that point up, or to a part that has no layer."""
    layer = LAYER_OF.get(module.part)
    if layer is None:
        yield f"lowwater.{module.name} is in no layer: give `{module.part}` a place in LAYERS"
        return
    for found in module.imports:
        if found.module.startswith("."):
            yield f"lowwater.{module.name}:{found.line} is a relative import: write lowwater.…"
        if found.top != "lowwater":
            continue
        # `from lowwater import boundary` asks the front for a name; the front is a door.
        name = found.module.partition(".")[2] or "__init__"
        target = LAYER_OF.get(part_of(name, LAYER_OF))
        # A part without a layer is told of once, where it is defined.
        if target is not None and target not in MAY_IMPORT[layer]:
            yield (
                f"lowwater.{module.name}:{found.line} ({layer}) imports {found.module} ({target}); "
                f"{layer} may import only {', '.join(sorted(MAY_IMPORT[layer]))}"
            )


def early_frameworks(module):
    """Frameworks imported at module level."""
    for found in module.imports:
        if found.at_module_level and found.top in FRAMEWORKS | EXTRAS:
            yield (
                f"lowwater.{module.name}:{found.line} imports {found.module} at module level; "
                "import it inside the function, if the program has imported it already"
            )


def heavy_agent_imports(modules: Mapping[str, Module]):
    """Third-party modules that load with the agent, directly or through our own modules."""
    for name in sorted(loaded_with_agent(modules)):
        for found in modules[name].imports:
            if found.at_module_level and found.top not in AGENT_MAY_IMPORT:
                yield (
                    f"lowwater.{name}:{found.line} loads {found.module} into the watched program; "
                    "the agent side may load only the standard library and msgspec"
                )


def loaded_with_agent(modules: Mapping[str, Module]):
    """Names of all modules that importing the agent side runs."""
    waiting = [name for name in modules if part_of(name, AGENT_SIDE) in AGENT_SIDE]
    loaded = set()
    while waiting:
        name = waiting.pop()
        if name in loaded or name not in modules:
            continue
        loaded.add(name)
        for found in modules[name].imports:
            if found.at_module_level and found.top == "lowwater":
                waiting += _packages_and_module(found.module)
    return loaded


def _packages_and_module(dotted):
    """`lowwater.a.b` -> `a`, `a.b`: importing a module runs the packages around it."""
    parts = dotted.split(".")[1:]
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def package_modules():
    """Every module of the installed package; it is parsed, not imported."""
    [root] = importlib.util.find_spec("lowwater").submodule_search_locations
    files = {_dotted(path.relative_to(root)): path for path in sorted(Path(root).rglob("*.py"))}
    dotted = frozenset(f"lowwater.{name}" for name in files)
    return {
        name: parsed(name, path.read_text(encoding="utf-8"), dotted)
        for name, path in files.items()
        if name not in PROGRAMS
    }


def _dotted(path: Path):
    parts = path.with_suffix("").parts
    # `report/__init__.py` is the package `report`; the front keeps its own name.
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


@pytest.fixture(scope="module")
def modules():
    found = package_modules()
    assert "model" in found, "the package was not found, so nothing would be checked"
    return found


def test_imports_point_down_the_layers(modules):
    crossings = [line for module in modules.values() for line in wall_crossings(module)]

    assert not crossings, "\n".join(crossings)


def test_no_framework_is_imported_at_module_level(modules):
    early = [line for module in modules.values() for line in early_frameworks(module)]

    assert not early, "\n".join(early)


def test_no_program_of_the_demo_is_imported(modules):
    imported = {found.module for module in modules.values() for found in module.imports}

    assert imported.isdisjoint(f"lowwater.{name}" for name in PROGRAMS)


def test_agent_loads_only_the_standard_library_and_msgspec(modules):
    heavy = list(heavy_agent_imports(modules))

    assert not heavy, "\n".join(heavy)


def test_core_dependencies_are_exactly_what_is_imported(modules):
    imported = {found.top for module in modules.values() for found in module.imports}
    third_party = imported - set(sys.stdlib_module_names) - FRAMEWORKS - EXTRAS - {"lowwater"}
    required = {
        re.match(r"[\w.-]+", line)[0]
        for line in importlib.metadata.requires("lowwater")
        if "extra ==" not in line
    }

    assert third_party == required


def test_every_room_is_listed(modules):
    assert {name.partition(".")[0] for name in modules} == {*ROOMS, *FRONT}
    # A dozen that a newcomer walks through, and one for each whole capability that came later.
    assert len({*ROOMS} - {"sizing", "check"}) <= 12


def test_page_about_the_architecture_has_these_rooms():
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert dict(rows) == ROOMS


def test_every_file_on_the_walks_exists():
    [root] = importlib.util.find_spec("lowwater").submodule_search_locations
    named = re.findall(r"`(\w+/[\w/]+\.py)`", PAGE.read_text(encoding="utf-8"))

    assert len(named) > 40
    assert [name for name in named if not (Path(root) / name).exists()] == [
        "tests/test_architecture.py"
    ]


def test_every_layer_says_what_it_may_import():
    assert set(MAY_IMPORT) == set(LAYERS)
    assert sum(map(len, LAYERS.values())) == len(LAYER_OF), "a part stands in two layers"
    assert {part.partition(".")[0] for part in LAYER_OF} == {*ROOMS, *FRONT}


# The checks themselves: each must catch the smallest program that breaks its wall.


def test_judge_that_imports_a_probe_is_caught():
    [crossing] = wall_crossings(
        parsed("verdict.trend", "from lowwater.probes.glibc import GlibcProbe\n")
    )

    assert crossing == (
        "lowwater.verdict.trend:1 (judge) imports lowwater.probes.glibc (observe); "
        "judge may import only judge, words"
    )


def test_import_hidden_in_a_function_still_crosses_the_wall():
    source = "def tell():\n    from lowwater import recording\n"

    [crossing] = wall_crossings(parsed("report.text", source))

    assert "lowwater.report.text:2 (tell) imports lowwater.recording (observe)" in crossing


def test_relative_import_is_caught():
    [crossing] = wall_crossings(parsed("verdict.trend", "from .. import probes\n"))

    assert crossing == "lowwater.verdict.trend:1 is a relative import: write lowwater.…"


def test_words_that_import_the_front_are_caught():
    [crossing] = wall_crossings(parsed("model.units", "from lowwater import boundary\n"))

    assert "(words) imports lowwater (doors)" in crossing


def test_file_without_a_layer_is_caught():
    [crossing] = wall_crossings(parsed("utils", ""))

    assert crossing == "lowwater.utils is in no layer: give `utils` a place in LAYERS"


def test_import_that_points_down_is_allowed():
    assert not list(
        wall_crossings(parsed("supervisor.session", "from lowwater.recording import load\n"))
    )


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf\n",
        "from keras.callbacks import Callback\n",
        "try:\n    import torch\nexcept ImportError:\n    torch = None\n",
        "class Probe:\n    import jax\n",
        "import memray\n",
    ],
)
def test_framework_that_loads_with_the_module_is_caught(source):
    assert list(early_frameworks(parsed("probes.tensorflow", source)))


@pytest.mark.parametrize(
    "source",
    [
        "def read():\n    import tensorflow\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import keras\n",
        "from lowwater.probes import tensorflow\n",
    ],
)
def test_framework_that_loads_later_or_never_is_allowed(source):
    assert not list(early_frameworks(parsed("probes.tensorflow", source)))


def test_agent_that_reaches_numpy_through_another_module_is_caught():
    package = {
        "agent": parsed("agent", "from lowwater.model.units import format_bytes\n"),
        "model.units": parsed("model.units", "import re\nimport numpy as np\n"),
    }

    [heavy] = heavy_agent_imports(package)

    assert heavy == (
        "lowwater.model.units:2 loads numpy into the watched program; "
        "the agent side may load only the standard library and msgspec"
    )


def test_numpy_beside_the_agent_is_allowed():
    package = {
        "agent": parsed("agent", "import os\nimport msgspec\n"),
        "verdict.trend": parsed("verdict.trend", "import numpy as np\n"),
    }

    assert not list(heavy_agent_imports(package))


def test_package_whose_front_is_heavy_is_caught():
    names = frozenset({"lowwater.report.bytes"})
    package = {
        "agent": parsed("agent", "from lowwater.report import bytes\n", names),
        "report": parsed("report", "import rich\n"),
        "report.bytes": parsed("report.bytes", ""),
    }

    assert list(heavy_agent_imports(package))


# Parts of the agent are given what they need when they are made; nobody sets it later.

COMPOSERS = ("agent/agent.py", "agent/observer.py", "diagnose/changed_run.py")


def set_on_others(source):
    """The lines that set an attribute of another object, or add to a list of one."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Assign(targets=[ast.Attribute(owner)]) if ast.unparse(owner) != "self":
                yield node.lineno
            case ast.Expr(ast.Call(ast.Attribute(ast.Attribute(owner), "append" | "extend"))) if (
                not ast.unparse(owner).startswith("self")
            ):
                yield node.lineno


@pytest.mark.parametrize("name", COMPOSERS)
def test_whoever_puts_the_agent_together_sets_nothing_later(name):
    [root] = importlib.util.find_spec("lowwater").submodule_search_locations
    source = (Path(root) / name).read_text(encoding="utf-8")

    assert [*set_on_others(source)] == [], "give it to the constructor"


@pytest.mark.parametrize(
    "line", ["observer.escalation.inquire = inquest", "observer.probes.append(probe)"]
)
def test_part_that_is_set_later_is_caught(line):
    assert [*set_on_others(f"def start():\n    {line}\n")] == [2]


# One word for one thing: two classes of the same name are one class, or one of them needs its own.


def public_classes(sources: Mapping[str, str]):
    """The public names of classes at the top of these files, with the files that define them."""
    found = {}
    for name, source in sources.items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(name)
    return found


def test_every_public_class_has_a_name_of_its_own():
    [root] = importlib.util.find_spec("lowwater").submodule_search_locations
    files = {_dotted(path.relative_to(root)): path for path in sorted(Path(root).rglob("*.py"))}
    # The two programs of the demo are the same but for the line that leaks.
    own = files.keys() - PROGRAMS
    classes = public_classes({name: files[name].read_text(encoding="utf-8") for name in own})

    assert len(classes) > 200
    assert {name: places for name, places in classes.items() if len(places) > 1} == {}


def test_second_class_of_a_name_is_caught():
    held = "class Held:\n    pass\n\nclass _Row:\n    pass\n"

    found = public_classes({"model.autopsy": held, "recording.records": held})

    assert found == {"Held": ["model.autopsy", "recording.records"]}


# What the program's signal handlers raise inside our code is the program's: nobody swallows it.

# Of these parts only what the supervisor does: it is not the program's process.
SUPERVISORS = {"agent/native_trace/sites.py", "recording/recording_file.py", "recording/reader.py"}
# A `TimeoutError` is an OSError; what else handlers raise is an Exception or more.
BROAD = {"BaseException", "Exception", "OSError", "EnvironmentError", "IOError", "TimeoutError"}
BROAD |= {"RuntimeError"}
# Where the program is over, nobody is left to be told.
ALLOWED = {
    ("agent/agent.py", "_finish"),
    # In a thread of ours no handler runs, and the error is raised where the answer is awaited.
    ("probes/in_time.py", "run"),
}


def catches(source):
    """The functions and lines that catch broadly and do not ask whose exception it is."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and not _asks(node):
            yield _around(functions, node), node.lineno
        is_suppress = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress")
        if is_suppress and any(map(_is_broad, node.args)):
            yield _around(functions, node), node.lineno


def _is_broad(kind):
    names = {"BaseException"} if kind is None else {*ast.unparse(kind).strip("()").split(", ")}
    return bool(names & BROAD)


def _asks(handler):
    called = {ast.unparse(node.func) for node in ast.walk(handler) if isinstance(node, ast.Call)}
    raises = any(isinstance(node, ast.Raise) and node.exc is None for node in handler.body)
    return bool(called & {"is_programs", "let_through", "must_be_raised"}) or raises


def _around(functions, node):
    inside = [one for one in functions if one.lineno <= node.lineno <= (one.end_lineno or 0)]
    return max(inside, key=lambda one: one.lineno).name if inside else "<module>"


def agent_side_files():
    [root] = importlib.util.find_spec("lowwater").submodule_search_locations
    for path in sorted(Path(root).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        dotted = name.removesuffix(".py").replace("/", ".")
        if part_of(dotted, AGENT_SIDE) in AGENT_SIDE and name not in SUPERVISORS:
            yield pytest.param(path, name, id=name)


@pytest.mark.parametrize(("path", "name"), [*agent_side_files()])
def test_whoever_catches_asks_whose_exception_it_is(path, name):
    found = [*catches(path.read_text(encoding="utf-8"))]
    swallowing = [f"{name}:{line}" for place, line in found if (name, place) not in ALLOWED]

    assert swallowing == [], "write `let_through(error)` or `with quietly(...)` there"


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    try: g()\n    except Exception: pass\n",
        "def f():\n    try: g()\n    except (OSError, ValueError) as e: print(e)\n",
        "def f():\n    try: g()\n    except: pass\n",
        "def f():\n    with contextlib.suppress(OSError): g()\n",
    ],
)
def test_one_who_does_not_ask_is_caught(source):
    assert [*catches(source)] == [("f", 3 if "except" in source else 2)]


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    try: g()\n    except Exception as e:\n        let_through(e)\n",
        "def f():\n    try: g()\n    except Exception:\n        h()\n        raise\n",
        "def f():\n    try: g()\n    except KeyError: pass\n",
        "def f():\n    with suppress(AttributeError): g()\n",
    ],
)
def test_one_who_asks_or_catches_narrowly_is_not(source):
    assert not [*catches(source)]
