"""What the agent spends on looking in the runs of a diagnosis: all in the first, nothing later."""

import json
import subprocess
import sys

import pytest

# In a process of its own: what an experiment places stays until the process ends.
PROGRAM = """
import json, sys
from dataclasses import asdict
from lowwater.agent.agent import agent_for
from lowwater.agent.journal import Journal
from lowwater.diagnose.cuts import Cuts
from lowwater.model.assignment import Assignment
from lowwater.recording.writer import Writer

changes = json.loads(sys.argv[1])
experiment = None if changes is None else {"changes": changes, "cuts": asdict(Cuts())}
assignment = Assignment("train.py", [], False, "run.lw", experiment=experiment)
agent = agent_for(assignment, Journal(Writer("run.lw")))
agent.begin_experiment()
escalation = agent.observer.escalation
brake = escalation.brake
# On a busy machine, in a program that has taken 7 s of processor time itself.
brake.collected(0.4)
brake.counted(3.2)
process_s = 7.0 + brake.spent_s
print(json.dumps([escalation.takes_censuses, brake.allows_last_census(process_s)]))
"""


@pytest.fixture
def looks(tmp_path):
    """Whether objects are looked at, and whether a second look may cost as much as a first."""

    def run(changes):
        command = [sys.executable, "-c", PROGRAM, json.dumps(changes)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return run


def test_first_run_of_a_diagnosis_takes_a_second_look_however_dear(looks):
    assert looks([]) == [True, True]


def test_program_that_is_only_watched_is_spared_a_second_look_as_dear(looks):
    assert looks(None) == [True, False]


def test_changed_run_is_not_looked_at_since_only_its_growth_is_asked_for(looks):
    assert looks([["collected", ""]])[0] is False
