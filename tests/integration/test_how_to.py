"""The code of the pages is run as it stands there, and does what the page promises."""

import re
import shutil
from pathlib import Path

import pytest

from how_to import README, run_page, text_of
from lowwater.cli import _demo

pytestmark = pytest.mark.tensorflow

MB = 1_000_000


def told(shown):
    """The lines `name: value` that a page prints."""
    return dict(re.findall(r"^(\w+): (.+)$", shown, re.MULTILINE))


def steps(text):
    """The steps of the receipts in a text."""
    return set(re.findall(r"^  (\w[\w' ]+?)  +[\d.]+", text, re.MULTILINE))


def experiments(text):
    """The rows of a table of experiments, without figures: a name, and how its result begins."""
    table = text[text.index("experiment  ") :].partition("\n\n")[0]
    rows = re.findall(r"^(\S.*?)  +(?:—|[+-].*?\))  +(\S+ \S+|leaks)", table, re.MULTILINE)
    return [(re.sub(r"\d+", "N", name), result) for name, result in rows]


def test_readme_frees_models_and_runs_trials(tmp_path):
    shown = run_page(README, tmp_path)

    assert re.search(r"^released trial 3: .* freed", shown, re.MULTILINE)
    assert "still held: no model, optimizer, layer or variable of the block" in shown
    assert (tmp_path / "losses.lw").exists()


def test_memory_is_given_back(tmp_path):
    shown = run_page("give-memory-back.md", tmp_path)

    receipts = re.findall(r"^released (\d+) units: .* freed", shown, re.MULTILINE)
    assert receipts == ["16", "32", "64"]
    assert shown.count("still held: no model, optimizer, layer or variable of the block") == 3
    assert "gradient registry" in steps(shown)
    assert steps(text_of("give-memory-back.md")) <= steps(shown)
    assert told(shown)["best"] == "(1, 1)"
    assert float(told(shown)["loss"]) > 0
    assert told(shown)["held"].startswith("`model` is still a variable of module `__main__`")
    assert int(told(shown)["freed"]) > MB
    assert shown.count("Session: 0 operations, 0 B of variables") == 2
    assert told(shown)["open"] == "0"


def test_library_leaks_are_mended_and_undone(tmp_path):
    shown = run_page("mend.md", tmp_path)

    codes = re.findall(r"^Mended: (LW\d+)", shown, re.MULTILINE)
    assert codes == ["LW205", "LW209"]
    assert shown.splitlines()[-1] == "2 0 0"


def test_trials_run_in_fresh_processes_and_finished_ones_are_not_run_again(tmp_path):
    first, second = (told(run_page("run-trials-in-fresh-processes.md", tmp_path)) for _ in range(2))

    assert int(first["peak"]) > 100 * MB
    # Nothing is seeded: a model that was trained again would have another loss.
    assert first["score"] != second["score"]
    assert first["scores"] == second["scores"]
    assert (tmp_path / "scores.lw").exists()


def test_diagnosis_on_the_page_is_what_the_demo_gets(programs):
    shutil.copy(Path(_demo.__file__).with_name("leaking.py"), programs.folder)

    done = programs.lowwater("diagnose", "--fresh", "leaking.py")

    assert done.returncode == 0, done.stderr
    [page] = re.findall(r"^```text\n(.*?)^```", text_of("diagnose.md"), re.DOTALL | re.MULTILINE)
    assert len(experiments(page)) == 13
    assert experiments(page) == experiments(done.stdout + done.stderr)
    for line in ("is the cause: without it, the growth is gone", "Confirmed by experiment."):
        assert line in " ".join(page.split())
        assert line in " ".join((done.stdout + done.stderr).split())


def test_what_is_in_memory_is_shown(tmp_path):
    shown = run_page("see-what-is-in-memory.md", tmp_path)

    assert told(shown)["place"] == "host"
    # With a GPU, nothing is unknown.
    assert told(shown)["unknown"] in ("{}", "{'devices': 'no NVIDIA driver was found'}")
    assert "`model` at page.py:" in shown
    assert re.search(r"^array +3 +3\.0 MiB  host +`rows` at page\.py:\d+$", shown, re.MULTILINE)
    assert re.search(r"^not attributed +[\d.]+ MiB  host", shown, re.MULTILINE)
    page = text_of("see-what-is-in-memory.md")
    assert "optimizer" in shown
    for kind in ("model", "optimizer", "array", "objects"):
        assert re.search(rf"^{kind} .*host", page, re.MULTILINE)


def test_a_footprint_is_measured_and_a_batch_fits(tmp_path):
    shown = run_page("will-it-fit.md", tmp_path)

    measured = [int(size) for size in told(shown)["measured"].strip("[]").split(", ")]
    assert measured == sorted(measured)
    assert len(measured) >= 3
    assert re.search(r"^at 256: .*iB", shown, re.MULTILINE)
    assert int(told(shown)["largest"]) > 64
    assert "confirmed" in told(shown)["because"]


def test_a_trial_that_runs_out_of_memory_is_tried_with_half_the_batch(tmp_path):
    shown = run_page("what-to-do-about-an-out-of-memory.md", tmp_path)

    assert "trained with: 16\n" in shown
