"""Real programs in clean processes: each is judged, and its cause found, as its first line says.

    # expect: leak of 4194304 bytes per epoch; LW101 at 14,22 held by SavePredictions.saved

Behind each `;` stands one expected finding: its code (or several that are equally right), the
lines that are right for it, the best first, and a text that its holder contains. One clause is
for the first finding; several are for causes that share the growth, each among the first three.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

SPECIMENS = Path(__file__).parent.parent / "specimens"
# With this TensorFlow puts host tensors into the very pool that it uses for a GPU.
POOL = {"TF_CPU_ALLOCATOR_USE_BFC": "1"}
EXPECTED = re.compile(
    r"# expect: (?P<kind>[\w -]+?)(?: of (?P<bytes>\d+) bytes)?"
    r"(?: per (?P<unit>\w+))?(?: at (?P<where>\S+))?"
)
CLAUSE = re.compile(
    r"(?P<codes>LW\d{3}(?:\|LW\d{3})*)(?: at (?P<lines>\d+(?:,\d+)*))?(?: held by (?P<holder>.+))?"
)
# What explains a run that does not leak, without accusing it.
INNOCENT = {"LW108", "LW301", "LW302", "LW401", "LW402", "LW403"}
FIRST_FEW = 3


@dataclass(frozen=True)
class Expected:
    """One finding that a first line asks for."""

    codes: tuple[str, ...]
    lines: tuple[int, ...] = ()
    holder: str = ""

    def has_code(self, finding):
        return finding["code"] in self.codes

    def has_line(self, finding):
        line = str(finding["where"]).rpartition(":")[2]
        return not self.lines or (line.isdigit() and int(line) in self.lines)

    def matches(self, finding):
        is_held = self.holder in (finding["holder"] or "")
        return self.has_code(finding) and self.has_line(finding) and is_held


def parse(path):
    """What the first line of a specimen expects: of the verdict, and of the findings."""
    verdict, *clauses = path.read_text().splitlines()[0].split("; ")
    return EXPECTED.fullmatch(verdict).groupdict(), tuple(map(_expected, clauses))


def _expected(clause):
    parts = CLAUSE.fullmatch(clause).groupdict()
    lines = tuple(int(line) for line in (parts["lines"] or "").split(",") if line)
    return Expected(tuple(parts["codes"].split("|")), lines, parts["holder"] or "")


def needs(path):
    name = "tf_keras" if "tf_keras" in path.read_text() else "tensorflow"
    return getattr(pytest.mark, name)


# A pair for each cause, and what the verdict alone is about. All others take as long again: they
# are marked slow, and `make bench` runs them.
IN_EVERY_RUN = frozenset(
    """
    callback_leaks callback_flat replay_memory_leaks replay_ring_fills
    histories_by_fold_leaks histories_numbers_flat partial_callbacks_leaks partial_callbacks_flat
    failed_candidates_leaks failed_candidates_flat notebook_cells_flat
    epoch_key_cache_leaks clip_key_cache_fills collector_off_weakref_flat
    models_for_ensemble_flat retrace_epsilon_leaks retrace_epsilon_flat
    lr_assign_graph_flat sessions_leaks sessions_flat
    kfold_fresh_models_leaks kfold_reset_weights_flat clear_session_in_epochs_flat
    function_per_task_leaks function_reused_flat kept_tapes_leaks dropped_tapes_flat
    serve_predict_padded_flat compiled_per_tenant_leaks
    compiled_once_flat vocabulary_per_fold_leaks vocabulary_once_flat heads_on_backbone_leaks
    heads_on_copies_flat registered_loss_per_fold_leaks registered_loss_once_flat
    checked_numerics_leaks unchecked_numerics_flat cache_that_fits_flat
    shuffle_buffer_outgrows_leaks shuffle_buffer_fills
    generator_keeps_batches_leaks generator_keeps_four_flat sequence_per_fit_leaks
    sequence_refreshed_flat logged_under_tape_leaks logged_beside_tape_flat tensors_dropped
    ragged_blocks_fragmented mapped_file native_blocks_leaks native_blocks_flat
    list_and_retracing_leaks six_epochs_leaks six_epochs_flat tensors_kept_once tape_loop_leaks
    cache_over_five_epochs legacy_keras_leaks early_stopping_flat
    """.split()
)


def marks(path):
    return [needs(path), *([] if path.stem in IN_EVERY_RUN else [pytest.mark.slow])]


ALL = [
    pytest.param(path, id=path.stem, marks=marks(path)) for path in sorted(SPECIMENS.glob("*.py"))
]


def watch(programs, path, **options):
    shutil.copy(path, programs.folder)
    return programs.watch(path.name, **options)


def check(run, path):
    expected, clauses = parse(path)
    check_verdict(run, expected)
    check_findings(run, clauses)


def check_verdict(run, expected):
    verdict = run.report["verdict"]
    because = verdict["because"]
    if expected["kind"] == "no leak":
        assert verdict["is_leak"] is False, because
    else:
        assert verdict["kind"] == expected["kind"], because
    if expected["bytes"]:
        assert verdict["growth_bytes_per_unit"] == pytest.approx(int(expected["bytes"]), rel=0.1)
    if expected["unit"]:
        assert verdict["unit"] == expected["unit"]
    if expected["where"]:
        assert verdict["where"] == expected["where"]


def check_findings(run, clauses):
    findings = run.report["findings"]
    shown = [(finding["code"], finding["where"], finding["holder"]) for finding in findings]
    if run.report["verdict"]["is_leak"] and len(clauses) == 1:
        assert findings[:1], "a leak without a cause"
        assert clauses[0].matches(findings[0]), shown
    for clause in clauses:
        assert any(map(clause.matches, findings[:FIRST_FEW])), (clause, shown)
    if not run.report["verdict"]["is_leak"]:
        assert {finding["code"] for finding in findings} <= INNOCENT, shown


@pytest.mark.parametrize("path", ALL)
def test_each_specimen_is_judged_as_its_first_line_says(programs, path):
    run = watch(programs, path)

    assert run.returncode == 0
    check(run, path)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "name", ["callback_flat", "tensors_dropped", "mapped_file", "tape_loop_flat"]
)
def test_flat_runs_are_never_collected(programs, name):
    run = watch(programs, SPECIMENS / f"{name}.py")

    assert run.timeline.collections == ()


def row(run, name):
    return next(row for row in run.report["ledger"]["rows"] if row["name"] == name)


@pytest.mark.tensorflow
@pytest.mark.parametrize("pool", ["malloc", "onednn", "bfc"])
def test_dropped_tensors_are_reserved_whichever_allocator_keeps_them(programs, pool):
    # oneDNN brings a pool of its own where the processor is new enough.
    env = {"malloc": {"TF_ENABLE_ONEDNN_OPTS": "0"}, "onednn": {}, "bfc": POOL}[pool]
    run = watch(programs, SPECIMENS / "tensors_dropped.py", env=env)
    names = [row["name"] for row in run.report["ledger"]["rows"]]

    assert run.kind == "reserved"
    kept = row(run, "malloc, free but kept")["last_bytes"]
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
