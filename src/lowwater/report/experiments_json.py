"""The part of the JSON report that only `lowwater diagnose` has."""

from dataclasses import asdict
from typing import Any

from lowwater.model import Diagnosis
from lowwater.model.experiment import Conclusion, Experiment

# Between factors and findings, not about the program.
_BETWEEN_US = (
    "covers",
    "rejects",
    "places",
    "tests",
    "together",
    "how",
    "is_amount",
    "is_suspected",
)


def to_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """The experiments and what they come to; nothing where there were none."""
    experiments = diagnosis.experiments
    if experiments is None:
        return {}
    return {
        "experiments": [_plain(one) for one in experiments.rows],
        "conclusion": _conclusion(diagnosis.conclusion or Conclusion()),
        "elapsed_s": round(experiments.elapsed_s, 3),
    }


def _conclusion(conclusion: Conclusion) -> dict[str, Any]:
    findings = [
        {"code": finding.code, "where": finding.where, "state": state}
        for finding, state in conclusion.states
    ]
    return {"sentences": [*conclusion.sentences], "findings": findings}


def _plain(one: Experiment) -> dict[str, Any]:
    told = {**asdict(one), "codes": [*one.codes]}
    for name in _BETWEEN_US:
        del told[name]
    if told["measured"] is not None:
        # It is what the difference says.
        del told["measured"]["not_made"], told["measured"]["was_ended"]
    return told
