import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lowwater.causes._symptoms import SYMPTOMS, symptom_of
from lowwater.causes.catalogue import CAUSES
from lowwater.cli import COMMANDS, cli


def explain(*arguments):
    return CliRunner().invoke(cli, ["explain", *arguments])


def test_explain_is_a_command():
    assert "explain" in COMMANDS


def test_page_is_the_documentation_of_the_cause():
    result = explain("LW103")

    assert result.exit_code == 0
    assert (
        result.output
        == """\
LW103 history-keeps-model
Kept `History` objects keep whole models alive.

`fit` returns a `History`, which looks like a table of numbers. But it is a
callback, and every callback has an attribute `model`: if you keep the object,
you keep the model, its optimizer and its graphs. The numbers alone are in
`history.history`, a plain dict.

Leaks:

    runs = []
    for fold in range(10):
        model = build_model()
        runs.append(model.fit(x, y, epochs=5))

Stays flat:

    runs = []
    for fold in range(10):
        model = build_model()
        runs.append(model.fit(x, y, epochs=5).history)

Fix: Keep the numbers, not the object: `runs.append(history.history)`.

Found in source: The `History` of a model that each round makes is added to a
container.

Known problems: A list comprehension of `fit` calls is not seen. If the model
itself is kept beside its history, LW201 reports it.

Fix safety: There is no automatic fix: the program may read `history.params` or
`history.epoch`, which the numbers do not have.

Applies to: Keras 2 and 3, `tf.keras` and `tf_keras`, on every backend.

Measured: 1.0 MiB per iteration in the specimen of this rule.
"""
    )


@pytest.mark.parametrize("name", ["lw103", "history-keeps-model", "History-Keeps-Model"])
def test_cause_is_found_by_code_and_by_name_in_any_case(name):
    assert explain(name).output == explain("LW103").output


def test_several_causes_are_explained_one_after_the_other():
    output = explain("LW101", "LW205").output

    assert output.index("LW101 callback-retention") < output.index("LW205 gradient-registry")


def test_leak_of_a_library_says_where_it_is_reported():
    output = " ".join(explain("LW205").output.split())

    assert "A leak in tensorflow (reported from 2.11 on, measured on 2.21;" in output
    assert "reported as tensorflow/tensorflow#97697." in output


def test_without_a_name_all_causes_are_listed_in_order():
    lines = explain().output.splitlines()

    codes = [line.split()[0] for line in lines if line.startswith("LW")]
    assert codes == sorted(cause.code for cause in CAUSES)
    assert lines[0] == (
        "LW101  callback-retention      A callback keeps data of every epoch or batch."
    )
    assert lines[-1] == "For details, name one: lowwater explain LW101"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("callback-retentoin", "lowwater explain callback-retention"),
        ("dataset-cahce", "lowwater explain dataset-cache"),
        ("generator-retentoin", "lowwater explain generator-retention"),
        ("LW20", "lowwater explain LW2"),
        ("xyz", "lowwater explain, which lists all of them"),
    ],
)
def test_unknown_cause_is_a_usage_error_with_a_way_on(name, advice):
    error = explain(name).exception

    assert str(error).startswith(f"no such cause or symptom (received: {name}). Try: {advice}")
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        (["oom"], "The program runs out of memory"),
        (["gpu"], "nvidia-smi shows a full GPU"),
        (["nvidia-smi"], "nvidia-smi shows a full GPU"),
        (["CUDA out of memory"], "nvidia-smi shows a full GPU"),
        (["ResourceExhaustedError"], "TensorFlow raises ResourceExhaustedError"),
        (["tf.errors.ResourceExhaustedError:"], "TensorFlow raises ResourceExhaustedError"),
        (["batch", "size"], "Which batch size fits into memory?"),
        (["will it fit"], "Which batch size fits into memory?"),
        (["clear_session"], "clear_session() does not free the memory"),
        (["keras.backend.clear_session()"], "clear_session() does not free the memory"),
        (["predict"], "Memory grows when predict() is called in a loop"),
        (["fit in a loop"], "Memory grows when models are built and fitted in a loop"),
        (["fit", "in", "a", "loop"], "Memory grows when models are built and fitted in a loop"),
        (["kernel restart"], "Only restarting the kernel frees the memory"),
        (["kernel", "restart"], "Only restarting the kernel frees the memory"),
    ],
)
def test_symptom_is_explained_however_it_is_written(asked, title):
    result = explain(*asked)

    assert result.exit_code == 0
    assert result.output.startswith(f"{title}\n")
    assert "What to try" in result.output
    assert ("Possible causes" in result.output) == bool(symptom_of(" ".join(asked)).codes)
    assert max(map(len, result.output.splitlines())) <= 80


def test_symptom_leads_to_commands_and_causes():
    assert (
        explain("clear_session").output
        == """\
clear_session() does not free the memory
clear_session() resets the global state of Keras. It does not free a model that
a variable, a list, a History or TensorFlow's gradient registry still holds. A
small model that is built and fitted in a loop leaves 5.8 MB behind, even with
`del` and `gc.collect()`. Between the epochs of one model, clear_session() frees
nothing, and traced functions repeat their random numbers.

What to try

    lowwater.mend()
        in the program, before the first model: repairs it
    lowwater run --mend train.py
        repairs the known library leaks for this run
    lowwater run train.py
        says whether it is a leak, and which line holds the memory

Possible causes

    LW205  TensorFlow's global gradient registry keeps every graph that was
           traced for training.
    LW206  `clear_session()` is called while the model is still in use.
    LW201  Models built in a loop stay in memory.

For details, name one: lowwater explain LW205
"""
    )


def test_symptoms_name_causes_that_exist_and_can_all_be_asked_for():
    codes = {cause.code for cause in CAUSES}

    for symptom in SYMPTOMS:
        assert codes.issuperset(symptom.codes)
        assert all(symptom_of(name) is symptom for name in symptom.names), symptom.name


def test_causes_and_symptoms_can_be_asked_for_together():
    output = explain("LW101", "oom").output

    assert output.index("LW101 callback-retention") < output.index("The program runs out of memory")


def test_terminal_that_knows_no_unicode_can_read_it():
    told = subprocess.run(
        [sys.executable, "-m", "lowwater", "explain", "LW205"],
        capture_output=True,
        check=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
    )

    assert b"`CustomGradient-...`" in told.stdout


def pages_of_the_documentation():
    path = Path(__file__).parents[3] / "docs" / "generate.py"
    spec = importlib.util.spec_from_file_location("generate", path)
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    return generate


def test_pages_of_the_documentation_are_up_to_date():
    assert pages_of_the_documentation().main(["--check"]) == 0, "run: python docs/generate.py"


def test_page_that_is_out_of_date_fails_the_check(tmp_path, capsys):
    generate = pages_of_the_documentation()
    generate.FOLDER = tmp_path

    assert generate.main(["--check"]) == 1
    assert f"{tmp_path / 'LW101.md'} is out of date. Try: python docs/generate.py" in (
        capsys.readouterr().err
    )


def test_pages_that_nobody_needs_are_removed(tmp_path):
    generate = pages_of_the_documentation()
    generate.FOLDER = tmp_path
    generate.README = tmp_path.parent / "README.md"
    generate.README.write_text("<!-- demo:start -->\n<!-- demo:end -->\n")
    (tmp_path / "LW999.md").write_text("gone")

    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    assert not (tmp_path / "LW999.md").exists()


def test_readme_that_shows_another_screen_than_the_demo_has_fails_the_check(tmp_path, capsys):
    generate = pages_of_the_documentation()
    shown = generate.README.read_text(encoding="utf-8")
    generate.README = tmp_path / "README.md"
    generate.README.write_text(shown.replace("LW101 callback-retention", "LW101 retention"))

    assert generate.main(["--check"]) == 1
    assert f"{generate.README} is out of date" in capsys.readouterr().err
    assert generate.main([]) == 0
    assert generate.README.read_text(encoding="utf-8") == shown


def test_readme_without_a_place_for_the_demo_is_an_error(tmp_path):
    generate = pages_of_the_documentation()
    generate.README = tmp_path / "README.md"
    generate.README.write_text("# Lowwater\n")

    with pytest.raises(ValueError, match="has 0 places for the demo"):
        generate.main(["--check"])
