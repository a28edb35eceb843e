"""The part of the page about memory on a device: tables and sentences from `devices.json`."""

import runpy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PLAN = runpy.run_path(str(HERE / "what_frees_plan.py"))
ROWS = runpy.run_path(str(HERE / "what_frees_rows.py"))
NOT_MEASURED, USELESS, USEFUL = ROWS["NOT_MEASURED"], ROWS["USELESS"], ROWS["USEFUL"]
percent, label, SMALL = ROWS["percent"], PLAN["label"], PLAN["ON_DEVICE_SMALL"]
# What the articles advise, and not what keeps the models on purpose.
_NOT_ADVICE = ("keep", "nothing", "keep+greedy")
_HEAD = ("in use on the device", "after a collection", "of doing nothing", "taken at the driver")

Row = Mapping[str, Any]


def megabytes(count: int) -> str:
    """`148292096` -> `148.3`."""
    return f"{count / 1e6:.1f}"


def share(row: Row, nothing: Row) -> float:
    """Which part of what stays without any advice stays with this one."""
    kept: float = row["collected"]["in_use_bytes"] / nothing["collected"]["in_use_bytes"]
    return kept


def model_table(rows: Mapping[str, Row]) -> str:
    """One line for each advice on the loop that builds models."""
    lines = [
        _line(label(advice), row, percent(share(row, rows["nothing"])))
        if "not_measured" not in row
        else _unmeasured(label(advice), row, 4)
        for advice, row in rows.items()
    ]
    return _markdown(("Twenty trainings, with", *_HEAD), lines)


def small_table(rows: Mapping[tuple[str, str], Row]) -> str:
    """The programs that build no model per round."""
    lines = [
        _line(SMALL[place], row) if "not_measured" not in row else _unmeasured(SMALL[place], row, 3)
        for place, row in rows.items()
    ]
    return _markdown(("Twenty rounds", *_HEAD[:2], _HEAD[3]), lines)


def tables(results: Mapping[str, Any]) -> str:
    """Both; a table without a row is left out."""
    models = _of_models(results)
    small = {
        (row["program"], row["advice"]): row
        for row in results["rows"]
        if row["program"] != "models"
    }
    parts = [model_table(models)] if "nothing" in models else []
    return "\n\n".join([*parts, *([small_table(small)] if small else [])])


def in_short(results: Mapping[str, Any]) -> str:
    """What helps on the device, what comes back to the driver, and what ends with the process."""
    models = _of_models(results)
    known = {advice: row for advice, row in models.items() if "not_measured" not in row}
    nothing = known["nothing"]
    left = {
        advice: share(row, nothing) for advice, row in known.items() if advice not in _NOT_ADVICE
    }
    groups = {
        f"**Does not help** (more than {percent(USELESS)} stays in use)": [
            advice for advice, part in left.items() if part > USELESS
        ],
        "**Helps in part**": [a for a, part in left.items() if USEFUL <= part <= USELESS],
        f"**Helps** (less than {percent(USEFUL)} stays in use)": [
            advice for advice, part in left.items() if part < USEFUL
        ],
    }
    lines = [
        f"- {title}: {'; '.join(map(label, found))}." for title, found in groups.items() if found
    ]
    return "\n".join([*lines, f"- {at_the_driver(known, results)}", f"- {at_the_end(results)}"])


def at_the_driver(known: Mapping[str, Row], results: Mapping[str, Any]) -> str:
    """Whether anything has brought back what the pool has taken."""
    context = results["context_bytes"]
    clean = [advice for advice, row in known.items() if not row["collected"]["driver_bytes"]]
    lowest = min(
        (row["collected"]["driver_bytes"], advice)
        for advice, row in known.items()
        if advice not in clean
    )
    return (
        f"**At the driver** nothing is 0 while a process that has used the device lives: the least "
        f"is {megabytes(lowest[0])} MB with {label(lowest[1])}, of which {megabytes(context)} MB "
        "are the context. TensorFlow's pool returns nothing of what it took, so what counts is how "
        f"much it ever needed. Only {' and '.join(map(label, clean))} leave the device free."
    )


def at_the_end(results: Mapping[str, Any]) -> str:
    """What the driver counts when the processes have ended."""
    after = [row["driver_after_end_bytes"] for row in results["rows"] if "not_measured" not in row]
    free = sum(not count for count in after)
    return f"When its process had ended, the driver counted 0 bytes in {free} of {len(after)} rows."


def _of_models(results: Mapping[str, Any]) -> dict[str, Row]:
    return {row["advice"]: row for row in results["rows"] if row["program"] == "models"}


def _line(name: str, row: Row, part: str | None = None) -> list[str]:
    before, after = row["as_is"]["in_use_bytes"], row["collected"]["in_use_bytes"]
    parts = [] if part is None else [part]
    return [
        name,
        megabytes(before),
        megabytes(after),
        *parts,
        megabytes(row["collected"]["driver_bytes"]),
    ]


def _unmeasured(name: str, row: Row, columns: int) -> list[str]:
    return [name, f"{NOT_MEASURED}: {row['not_measured']}", *[""] * (columns - 1)]


def _markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in rows)
