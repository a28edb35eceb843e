"""The JSON report keeps its contract, and the shipped schema states it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from lowwater.model import Diagnosis, InSource, Kind, Mending, MendState
from lowwater.report.json import render, schema, to_dict
from replay.screens import screen_of

Told = Callable[[str], Diagnosis]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


def test_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_every_report_follows_the_schema(
    case: Diagnosis, validator: jsonschema.Draft202012Validator
) -> None:
    validator.validate(json.loads(render(case)))


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_verdict_follows_the_schema(
    kind: Kind, told: Told, validator: jsonschema.Draft202012Validator
) -> None:
    flat = told("flat")

    validator.validate(to_dict(replace(flat, verdict=replace(flat.verdict, kind=kind))))


@pytest.mark.parametrize("name", ["killed-for-memory", "leak-with-two-findings"])
def test_leak_report_is_what_we_agreed_to_write(
    name: str, expected: Callable[[str, str], str]
) -> None:
    text = render(screen_of(name))

    assert text == expected(f"{name}.json", text)


def test_contract_of_the_design_is_kept(told: Told) -> None:
    report = to_dict(told("leak-with-a-finding"))

    assert report["schema"] == "lowwater.report/1"
    assert report["verdict"] == {
        "kind": "leak",
        "is_leak": True,
        "is_slow": False,
        "unit": "epoch",
        "where": None,
        "place": "host",
        "units_seen": 12,
        "growth_bytes_per_unit": 4194304,
        "interval_bytes": [4089446, 4299162],
        "more_units_needed": None,
        "because": "in-use host memory rose in 10 of 10 epochs after warm-up",
    }
    assert report["units"][1]["where"] == "train.py:14"
    assert report["units"][1]["verdict"]["is_leak"] is False
    assert report["findings"][0]["code"] == "LW101"
    assert report["findings"][0]["library"] is None


def test_finding_tells_its_trace_and_its_fingerprint(told: Told) -> None:
    [finding] = to_dict(told("leak-with-a-finding"))["findings"]

    assert finding["fingerprint"] == "5a1f0c9e7b3d2468"
    assert [node["is_suspect"] for node in finding["trace"]] == [False, False, True, False]
    assert finding["trace"][1] == {
        "edge": "",
        "what": "SavePredictions",
        "where": "train.py:6",
        "status": "needed",
        "because": "callback of the running fit",
        "is_suspect": False,
    }


def test_finding_without_trace_and_fingerprint_says_so(told: Told) -> None:
    [finding] = to_dict(told("sawtooth-explained"))["findings"]

    assert finding["trace"] == []
    assert finding["fingerprint"] is None


@pytest.mark.parametrize("seen", [None, *InSource])
def test_finding_tells_whether_check_sees_it(
    seen: InSource | None, told: Told, validator: jsonschema.Draft202012Validator
) -> None:
    leak = told("leak-with-a-finding")
    looked = replace(leak, findings=(replace(leak.findings[0], in_source=seen),))

    report = json.loads(render(looked))

    validator.validate(report)
    assert report["findings"][0]["in_source"] == (seen and seen.value)


def test_overhead_tells_the_censuses(told: Told) -> None:
    footprint = to_dict(told("leak-with-a-finding"))["footprint"]

    assert (footprint["censuses"], footprint["census_s"]) == (2, 0.4)


def test_ledger_tells_first_last_and_change(told: Told) -> None:
    ledger = to_dict(told("leak-in-a-loop-of-models"))["ledger"]

    in_use = next(row for row in ledger["rows"] if row["name"] == "malloc, in use")
    assert in_use["change_bytes"] == in_use["last_bytes"] - in_use["first_bytes"] == 55 << 20
    assert in_use["highest_bytes"] == max(in_use["series"])
    assert len(in_use["series"]) == 12
    assert ledger["counts"]["functions"] == {"first": 24, "last": 288}


def test_ending_names_the_signal(told: Told) -> None:
    assert to_dict(told("killed-for-memory"))["ending"] == {
        "elapsed_s": 95.0,
        "exit_code": None,
        "signal": 9,
        "signal_name": "SIGKILL",
        "out_of_memory": True,
        "peak_rss_bytes": 7 << 30,
        "error": None,
    }


def test_unknown_ending_is_null_not_zero(told: Told) -> None:
    assert to_dict(told("without-round-trips"))["ending"] is None


def test_report_is_ascii_so_that_any_file_can_take_it(told: Told) -> None:
    text = render(replace(told("flat"), notes=("caf\udce9 ▁",)))

    assert text.isascii()
    assert json.loads(text)["notes"] == ["caf\udce9 ▁"]


def spoil(report: dict[str, Any], spoiled: str) -> None:
    match spoiled:
        case "unknown field":
            report["extra"] = 1
        case "missing field":
            del report["ledger"]
        case "other version":
            report["schema"] = "lowwater.report/2"
        case "leak that is none":
            report["verdict"]["is_leak"] = False
        case "unsure but innocent":
            report["verdict"].update(kind="inconclusive", is_leak=False)
        case "unknown kind":
            report["verdict"].update(kind="bloat")
        case "text for bytes":
            report["ledger"]["rows"][0]["series"] = ["4 MiB"]


@pytest.mark.parametrize(
    "spoiled",
    [
        "unknown field",
        "missing field",
        "other version",
        "leak that is none",
        "unsure but innocent",
        "unknown kind",
        "text for bytes",
    ],
)
def test_schema_refuses_a_report_with_a_fault(
    spoiled: str, told: Told, validator: jsonschema.Draft202012Validator
) -> None:
    report = to_dict(told("leak"))
    assert validator.is_valid(report)

    spoil(report, spoiled)

    assert not validator.is_valid(report)


NODE = {
    "edge": ".saved",
    "what": "list",
    "where": None,
    "status": "leaked",
    "because": "grew in every epoch",
    "is_suspect": True,
}


@pytest.mark.parametrize(
    ("node", "is_valid"),
    [
        (NODE, True),
        (NODE | {"status": "guilty"}, False),
        (NODE | {"extra": 1}, False),
        ({"edge": ".saved", "what": "list"}, False),
        ("├─ .saved: list", False),
    ],
)
def test_schema_knows_a_node_of_a_trace(
    node: object, *, is_valid: bool, told: Told, validator: jsonschema.Draft202012Validator
) -> None:
    report = to_dict(told("leak-with-a-finding"))

    report["findings"][0]["trace"] = [node]

    assert validator.is_valid(report) is is_valid


def fields(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from node.get("properties", {}).items()
    for part in node.get("$defs", {}).values():
        yield from fields(part)


def test_every_field_of_the_schema_is_described() -> None:
    described = dict(fields(schema()))

    assert len(described) > 30
    assert not [name for name, field in described.items() if "description" not in field]


@pytest.mark.parametrize("state", MendState)
def test_every_state_of_a_repair_follows_the_schema(
    state: MendState, told: Told, validator: jsonschema.Draft202012Validator
) -> None:
    mending = Mending("LW205", "gradient-registry", "TensorFlow", state, "TensorFlow 2.21.0")
    report = json.loads(render(replace(told("flat"), mended=(mending,))))

    validator.validate(report)
    assert report["mended"][0]["state"] == state.value
