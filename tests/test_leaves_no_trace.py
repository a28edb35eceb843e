"""When watching is over, the program is as it would be without us."""

import gc
import subprocess
import sys
import textwrap
import weakref

import pytest

from lowwater.agent.agent import agent_for
from lowwater.agent.journal import Journal
from lowwater.model.assignment import Assignment
from lowwater.recording.writer import Writer

FILE = "/home/me/train_without_a_trace.py"
MIB = 1 << 20
TEXT = """\
class Model:
    def __init__(self):
        self.layers = [bytearray(1000)]

kept = []

def step():
    kept.append(Model())
"""


@pytest.fixture
def agent(tmp_path):
    recording = str(tmp_path / "run.lw")
    assignment = Assignment(FILE, [], is_module=False, recording=recording)
    agent = agent_for(assignment, Journal(Writer(recording)))
    yield agent
    agent.uninstall()
    agent.observer.abandon()


def state():
    return {
        "finders": [*sys.meta_path],
        "callbacks": [*gc.callbacks],
        "is the collector on": gc.isenabled(),
        "thresholds": gc.get_threshold(),
        "flags": gc.get_debug(),
        "frozen": gc.get_freeze_count(),
        "garbage": len(gc.garbage),
        "hooks": (sys.excepthook, sys.displayhook, sys.gettrace(), sys.getprofile()),
        "recursion": sys.getrecursionlimit(),
        "switching": sys.getswitchinterval(),
    }


def test_everything_is_as_before_when_the_agent_is_gone(agent):
    before = state()
    agent.install()
    assert state() != before
    agent.uninstall()

    assert state() == before


def test_collector_is_as_before_after_censuses(agent):
    before = state()
    for level in range(3):
        agent.inquest(level * MIB)

    assert state() == before


def test_watched_models_die_when_the_program_drops_them(agent, monkeypatch):
    """They were born under watch, and seen by three censuses."""
    import types

    code = agent.add_ticks(TEXT.encode(), FILE)
    module = types.ModuleType("train_without_a_trace")
    module.__file__ = FILE
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(code, module.__dict__)
    models = agent.inquest.lives["model"]
    for level in range(3):
        module.step()
        models.born(module.kept[-1])
        agent.inquest(level * MIB)
    gone = [weakref.ref(model) for model in module.kept]
    assert len(models) == 3
    gc.disable()
    try:
        module.kept.clear()
        assert [one() for one in gone] == [None, None, None]
    finally:
        gc.enable()
    assert len(models) == 0


def test_censuses_leave_little_behind(agent):
    agent.inquest(0)
    agent.inquest(MIB)
    gc.collect()
    before = len(gc.get_objects()), sys.getallocatedblocks()
    gc.disable()
    try:
        agent.inquest(2 * MIB)
        assert gc.collect() == 0
    finally:
        gc.enable()

    assert len(gc.get_objects()) - before[0] < 2_000
    # Small blocks have 512 bytes at the most; those of a summary have a hundred.
    assert (sys.getallocatedblocks() - before[1]) * 128 < 1_500_000


KERAS = """\
import gc, sys, weakref, inspect
import keras
from lowwater.agent.agent import agent_for
from lowwater.agent.journal import Journal
from lowwater.model.assignment import Assignment
from lowwater.recording.writer import Writer

def codes():
    kinds = (keras.Model, keras.optimizers.Optimizer, keras.callbacks.CallbackList)
    found = {}
    for kind in dict.fromkeys(base for kind in kinds for base in kind.__mro__):
        for name, part in vars(kind).items():
            part = inspect.unwrap(part) if inspect.isfunction(part) else part
            if inspect.isfunction(part):
                found[kind.__name__, name] = part.__code__
    return found

before = codes()
agent = agent_for(Assignment("check.py", [], False, "run.lw"), Journal(Writer("run.lw")))
agent.install()
changed = [name for name, code in codes().items() if code is not before[name]]
print(sorted(name for _, name in changed))
model = keras.Sequential([keras.layers.Dense(1)])
gone = weakref.ref(model)
model.build((None, 3))
agent.inquest(0)
agent.inquest(1 << 20)
agent.uninstall()
print(all(code is before[name] for name, code in codes().items()))
del model
gc.collect()
print(gone() is None)
"""


@pytest.mark.tensorflow
def test_functions_of_keras_have_their_own_code_again(tmp_path):
    (tmp_path / "check.py").write_text(textwrap.dedent(KERAS))
    done = subprocess.run(
        [sys.executable, "check.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    placed, is_as_before, is_gone = done.stdout.splitlines()

    assert "'compile'" in placed
    assert "'fit'" in placed
    assert (is_as_before, is_gone) == ("True", "True")
