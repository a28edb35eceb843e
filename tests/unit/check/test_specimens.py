"""Every specimen is read: what leaks is blamed at a right line, and what is flat is acquitted."""

import pytest

from lowwater.check.config import CheckOptions
from lowwater.check.run import run
from replay.first_line import INNOCENT, SPECIMENS, truth_of
from replay.source_rates import rates

ALL = sorted(SPECIMENS.glob("*.py"))
# What reading must see. A new rule adds its specimens; none is ever taken out.
SEEN = {
    "actors_by_name_leaks": {"LW201"},
    "augment_py_function_per_fold_leaks": {"LW304"},
    "cache_behind_repeat_leaks": {"LW301"},
    "cache_per_round_kept_leaks": {"LW301"},
    "callback_and_models_leaks": {"LW101", "LW205"},
    "callback_leaks": {"LW101"},
    "checked_numerics_leaks": {"LW214"},
    "class_attribute_leaks": {"LW102"},
    "clear_session_in_epochs_flat": {"LW206"},
    "collector_off_sawtooth": {"LW108"},
    "default_argument_leaks": {"LW104"},
    "compiled_per_tenant_leaks": {"LW210"},
    "deferred_plots_leaks": {"LW104"},
    "dict_memo_leaks": {"LW107"},
    "epoch_key_cache_leaks": {"LW107"},
    "failed_candidates_leaks": {"LW105"},
    "function_per_task_leaks": {"LW207"},
    "generator_closure_leaks": {"LW303"},
    "generator_global_list_leaks": {"LW303"},
    "generator_keeps_batches_leaks": {"LW303"},
    "generator_pipeline_per_epoch_leaks": {"LW304"},
    "gradient_logger_leaks": {"LW101"},
    "heads_on_backbone_leaks": {"LW212"},
    "histories_by_fold_leaks": {"LW103"},
    "kept_tapes_leaks": {"LW208"},
    "kfold_fresh_models_leaks": {"LW205"},
    "lambda_functions_kept_leaks": {"LW207"},
    "legacy_keras_leaks": {"LW101"},
    "list_and_retracing_leaks": {"LW102", "LW202"},
    "logged_under_tape_leaks": {"LW305"},
    "lr_assign_graph_leaks": {"LW203"},
    "models_for_ensemble_leaks": {"LW201"},
    "models_in_a_loop_leaks": {"LW205"},
    "partial_callbacks_leaks": {"LW104"},
    "recompile_each_phase_leaks": {"LW207"},
    "registered_loss_per_fold_leaks": {"LW213"},
    "replay_memory_leaks": {"LW102"},
    "restore_graphs_sessions_leaks": {"LW204"},
    "retrace_epsilon_leaks": {"LW202"},
    "sequence_per_fit_leaks": {"LW304"},
    "seeded_noise_leaks": {"LW209"},
    "seen_samples_set_leaks": {"LW102"},
    "sessions_leaks": {"LW204"},
    "shuffle_buffer_fills": {"LW302"},
    "shuffle_buffer_outgrows_leaks": {"LW302"},
    "six_epochs_leaks": {"LW101"},
    "slow_py_function_leaks": {"LW209"},
    "tape_as_attribute_leaks": {"LW208"},
    "tape_loop_leaks": {"LW102"},
    "tensors_kept_leaks": {"LW101"},
    "tuning_train_step_leaks": {"LW207"},
    "validation_recorder_leaks": {"LW101"},
    "vocabulary_per_fold_leaks": {"LW211"},
}


def found_in(path):
    return run([str(path)], CheckOptions(preview=True)).findings


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_only_what_the_first_line_expects_is_found(path):
    expected = truth_of(path).findings
    right = {code: {*one.lines} for one in expected for code in one.codes}

    for finding in found_in(path):
        assert finding.code in {*right} | INNOCENT, finding.message
        lines = right.get(finding.code)
        assert not lines or finding.span.line in lines, (finding.code, finding.span.line)


@pytest.mark.parametrize(("name", "codes"), SEEN.items(), ids=SEEN)
def test_what_can_be_read_is_found(name, codes):
    found = {finding.code for finding in found_in(SPECIMENS / f"{name}.py")}

    assert codes <= found


def test_no_flat_program_is_accused():
    flat = [path for path in ALL if not truth_of(path).is_leak]

    accused = {
        path.stem: [one.code for one in found_in(path) if one.code not in INNOCENT] for path in flat
    }

    assert len(flat) > 50
    assert {name: codes for name, codes in accused.items() if codes} == {}


def test_readme_tells_the_totals():
    rows = [*rates()]
    expected, seen = sum(row.expected for row in rows), sum(row.seen for row in rows)
    findings, right = sum(row.findings for row in rows), sum(row.right for row in rows)
    readme = (SPECIMENS.parents[1] / "README.md").read_text(encoding="utf-8")

    told = f"finds {seen} of {expected} leaks, and {right} of {findings} findings are right"
    assert told in readme
