"""The outcome of a checklist as JSON."""

import json
from dataclasses import asdict
from typing import Any

from lowwater.experiment import Checked, Experiment
from lowwater.report import json as report_json


def render(checked: Checked) -> str:
    """The report of the first run, with the experiments beside it."""
    content: dict[str, Any] = json.loads(report_json.render(checked.diagnosis))
    content["experiments"] = [_plain(one) for one in checked.experiments]
    content["conclusion"] = {
        "sentences": [*checked.conclusion.sentences],
        "findings": [
            {"code": finding.code, "where": finding.where, "state": state}
            for finding, state in checked.conclusion.states
        ],
    }
    content["elapsed_s"] = round(checked.elapsed_s, 3)
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _plain(one: Experiment) -> dict[str, Any]:
    told = {**asdict(one), "codes": [*one.codes]}
    # Between factors, not about the program.
    del told["covers"], told["rejects"]
    return told
