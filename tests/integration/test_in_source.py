"""A run says of what it has found whether `lowwater check` sees it without a run."""

import json

# The framework is only spoken of: neither a run nor a check needs it.
KEEPS_ERRORS = '''\
    """What a search with keras would do, without it."""
    import time

    import numpy as np


    def train(trial):
        batch = np.full(125_000, trial, "float64")
        raise ValueError(f"trial {trial} failed")


    failed = []
    for trial in range(40):
        try:
            train(trial)
        except ValueError as error:
            failed.append(error)
        time.sleep(0.005)
'''
WORDS = "More: lowwater explain LW105 (also found by lowwater check)\n"


def test_leak_that_check_sees_says_so_on_the_screen_and_in_json(programs):
    programs.write("train.py", KEEPS_ERRORS)

    run = programs.watch("train.py")

    [finding] = run.report["findings"]
    checked = json.loads(programs.lowwater("check", "--format", "json", "train.py").stdout)
    assert (finding["code"], finding["in_source"]) == ("LW105", "seen")
    assert [one["code"] for one in checked["findings"]] == ["LW105"]
    assert run.stderr.count(WORDS) == 1

    # Elsewhere and later, there need be no source, and it need not be the same.
    later = programs.lowwater("report", "--json", "later.json", "run.lw")
    report = json.loads((programs.folder / "later.json").read_text())
    assert report["findings"][0]["in_source"] is None
    assert WORDS not in later.stdout


def test_program_that_is_gone_at_its_end_costs_no_report(programs):
    programs.write("train.py", KEEPS_ERRORS + "    import os; os.remove(__file__)\n")

    run = programs.watch("train.py")

    assert run.returncode == 0
    assert run.report["findings"][0]["in_source"] is None
    assert WORDS not in run.stderr
