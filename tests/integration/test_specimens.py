"""Real programs in clean processes: each is judged, and its cause found, as its first line says.

A smaller set than tests/test_replay.py has, which judges recordings of all of them.
"""

import os
import shutil

import pytest

from replay.first_line import SPECIMENS, finding_faults, truth_of, verdict_faults

# With this TensorFlow puts host tensors into the very pool that it uses for a GPU.
POOL = {"TF_CPU_ALLOCATOR_USE_BFC": "1"}


def needs(path):
    name = "tf_keras" if "tf_keras" in path.read_text() else "tensorflow"
    return getattr(pytest.mark, name)


# For each cause a program that has it, for each kind of program a twin that has not, and what the
# verdict alone is about. All others are marked slow, and `make bench` runs them.
LIVE = frozenset(
    """
    callback_flat list_and_retracing_leaks replay_ring_fills
    histories_by_fold_leaks partial_callbacks_leaks failed_candidates_leaks notebook_cells_leaks
    epoch_key_cache_leaks collector_off_sawtooth collector_off_weakref_flat
    retrace_epsilon_flat lr_assign_graph_leaks sessions_leaks
    sessions_flat clear_session_in_epochs_flat function_per_task_leaks kept_tapes_leaks
    slow_py_function_leaks compiled_per_tenant_leaks vocabulary_per_fold_leaks
    heads_on_backbone_leaks registered_loss_per_fold_leaks checked_numerics_leaks
    cache_behind_repeat_leaks cache_that_fits_flat shuffle_buffer_outgrows_leaks
    generator_keeps_batches_leaks sequence_per_fit_leaks logged_under_tape_leaks
    tape_loop_flat ragged_blocks_fragmented mapped_file native_blocks_leaks
    native_blocks_flat six_epochs_flat legacy_keras_leaks
    """.split()
)
# A flat run is never collected on our behalf: that would change the program that we watch.
NEVER_COLLECTED = frozenset({"callback_flat", "mapped_file", "tape_loop_flat"})


def marks(path):
    return [needs(path), *([] if path.stem in LIVE else [pytest.mark.slow])]


ALL = [
    pytest.param(path, id=path.stem, marks=marks(path)) for path in sorted(SPECIMENS.glob("*.py"))
]


def watch(programs, path, **options):
    shutil.copy(path, programs.folder)
    return programs.watch(path.name, **options)


def check(run, path):
    verdict, truth = run.report["verdict"], truth_of(path)

    assert not verdict_faults(verdict, truth), verdict["because"]
    assert not finding_faults(run.report["findings"], truth, is_leak=verdict["is_leak"])


@pytest.mark.parametrize("path", ALL)
def test_each_specimen_is_judged_as_its_first_line_says(programs, path):
    run = watch(programs, path)

    assert run.returncode == 0
    check(run, path)
    assert path.stem not in NEVER_COLLECTED or run.timeline.collections == ()


def test_each_cause_has_a_program_in_every_run():
    codes = {path.stem: codes_of(path) for path in SPECIMENS.glob("*.py")}

    assert set().union(*codes.values()) == set().union(*(codes[name] for name in LIVE))
    assert NEVER_COLLECTED <= LIVE <= codes.keys()


def codes_of(path):
    return {code for expected in truth_of(path).findings for code in expected.codes}


def row(run, name):
    return next(row for row in run.report["ledger"]["rows"] if row["name"] == name)


@pytest.mark.tensorflow
@pytest.mark.parametrize("pool", ["malloc", "onednn", "bfc"])
def test_dropped_tensors_are_reserved_whichever_allocator_keeps_them(programs, pool):
    # oneDNN brings a pool of its own where the processor is new enough.
    env = {"malloc": {"TF_ENABLE_ONEDNN_OPTS": "0"}, "onednn": {}, "bfc": POOL}[pool]
    run = watch(programs, SPECIMENS / "tensors_dropped.py", env=env)
    names = [row["name"] for row in run.report["ledger"]["rows"]]

    check(run, SPECIMENS / "tensors_dropped.py")
    assert run.kind == "reserved"
    assert run.timeline.collections == ()
    # The highest: malloc gives back what is free at the top of its heap, and what lies above it
    # at the very end is a matter of which thread came last.
    kept = row(run, "malloc, free but kept")["highest_bytes"]
    if pool == "malloc":
        assert "TensorFlow pool, free for reuse" not in names
    if pool == "bfc":
        assert row(run, "TensorFlow pool, free for reuse")["last_bytes"] > 150_000_000
    if "TensorFlow pool, free for reuse" in names:
        kept += row(run, "TensorFlow pool, free for reuse")["last_bytes"]
    assert kept > 150_000_000


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["tensors_kept_leaks", "tape_loop_leaks", "callback_leaks"])
def test_a_leak_is_found_inside_a_pool_too(programs, name):
    path = SPECIMENS / f"{name}.py"

    check(watch(programs, path, env=POOL), path)


@pytest.mark.tensorflow
def test_tensors_kept_once_are_a_warm_up_in_a_pool_too(programs):
    path = SPECIMENS / "tensors_kept_once.py"

    check(watch(programs, path, env=POOL), path)


def test_the_specimens_are_not_edited_by_a_run():
    assert os.access(SPECIMENS, os.R_OK)
    assert not list(SPECIMENS.rglob("__pycache__"))
