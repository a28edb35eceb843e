"""The page of `what_frees.py`: tables and sentences from the numbers, and nothing else.

Sentences that judge are chosen by thresholds, so that they follow from the table beside them.
"""

import json
import runpy
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "docs" / "what-really-frees-memory.md"
TEMPLATE = HERE / "what_frees_template.md"
# `python -P` finds no module beside the program.
PLAN = runpy.run_path(str(HERE / "what_frees_plan.py"))
ROWS = runpy.run_path(str(HERE / "what_frees_rows.py"))
DEVICE = runpy.run_path(str(HERE / "what_frees_device.py"))
KEPT, ON_DEVICE = HERE / "results" / "what_frees.json", HERE / "results" / "devices.json"
Table, TABLES, TF, RECIPE = (PLAN[name] for name in ("Table", "TABLES", "TF", "RECIPE"))
MODELS, NAMES, SMALL, label = (PLAN[name] for name in ("MODELS", "NAMES", "SMALL", "label"))
NOT_MEASURED, FLAT_BYTES = ROWS["NOT_MEASURED"], ROWS["FLAT_BYTES"]
USELESS, USEFUL = ROWS["USELESS"], ROWS["USEFUL"]
Row, row_of, share, judged = (ROWS[name] for name in ("Row", "row_of", "share", "judged"))
megabytes, counted, percent = (ROWS[name] for name in ("megabytes", "counted", "percent"))
_FIRST = ("dense", TF)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def model_table(rows: Sequence[Row], *, with_registries: bool) -> str:
    """One row per advice; what was not measured says why."""
    head = ["After each training", "in use", "after a collection", "of doing nothing"]
    head += ["functions", "gradients"] if with_registries else []
    nothing = next((row for row in rows if row.advice == "nothing"), Row("nothing"))
    lines = []
    for row in rows:
        if row.why_not:
            blank = [""] * (len(head) - 1)
            lines.append([label(row.advice), f"{NOT_MEASURED}: {row.why_not}", *blank])
            continue
        numbers = [megabytes(row.as_is_bytes), megabytes(row.collected_bytes)]
        registries = [counted(row.functions), counted(row.gradients)] if with_registries else []
        numbers += [percent(share(row, nothing)), *registries, megabytes(row.resident_bytes)]
        lines.append([label(row.advice), *numbers])
    return markdown([*head, "resident"], lines)


def small_table(rows: Mapping[tuple[str, str], Row]) -> str:
    """The programs that build no model per round."""
    lines = [
        [
            SMALL[place],
            f"{NOT_MEASURED}: {row.why_not}" if row.why_not else megabytes(row.as_is_bytes),
            megabytes(row.collected_bytes),
            megabytes(row.resident_bytes),
        ]
        for place, row in rows.items()
    ]
    return markdown(["Each round", "in use", "after a collection", "resident"], lines)


def rows_by_table(results: Mapping[str, Any]) -> dict[Table, list[Row]]:
    """The rows in the order of the page; tables without a single cell are left out."""
    cells = {(one["program"], one["backend"], one["advice"]): one for one in results["cells"]}
    found: dict[Table, list[Row]] = {}
    for table in TABLES:
        places = [(table.program, table.backend, advice) for advice in table.advice]
        rows = [row_of(cells[place]) for place in places if place in cells]
        found |= {table: rows} if rows else {}
    return found


def all_tables(results: Mapping[str, Any]) -> str:
    """Every table with its title."""
    parts, small = [], {}
    for table, rows in rows_by_table(results).items():
        if table.program in MODELS:
            parts.append(f"### {NAMES[table.backend]}: {MODELS[table.program]}")
            reasons = {row.why_not for row in rows}
            if len(reasons) == 1 and None not in reasons:
                parts.append(f"{NOT_MEASURED}: {reasons.pop()}.".capitalize())
                continue
            parts.append(model_table(rows, with_registries=table.backend == TF))
        else:
            small |= {(table.program, row.advice): row for row in rows}
    if small:
        parts += ["### Small programs, TensorFlow", small_table(small)]
    return "\n\n".join(parts)


def verdicts(rows: Sequence[Row]) -> str:
    """Which advice helps and which does not, as a list."""
    nothing = next(row for row in rows if row.advice == "nothing")
    groups: dict[str, list[str]] = {"does not help": [], "in part": [], "helps": []}
    for row in rows:
        groups.setdefault(judged(row, nothing), []).append(label(row.advice))
    groups["does not help"] = [one for one in groups["does not help"] if one != "nothing"]
    titles = {
        "does not help": f"**Does not help** (more than {percent(USELESS)} stays)",
        "in part": "**Helps in part**",
        "helps": f"**Helps** (less than {percent(USEFUL)} stays)",
    }
    return "\n".join(
        f"- {title}: {'; '.join(groups[key])}." for key, title in titles.items() if groups[key]
    )


def of_the_recipe(tables: Mapping[Table, Sequence[Row]]) -> str:
    """What the full recipe and `clear_session()` leave of each model on TensorFlow."""
    lines = []
    for table, rows in tables.items():
        row = {one.advice: one for one in rows}
        if table.backend != TF or RECIPE not in row or "nothing" not in row:
            continue
        advised = {"nothing": "doing nothing", "clear_session": "`clear_session()`"}
        kept = [
            f"{text} leaves {megabytes(row[advice].collected_bytes)} MB"
            for advice, text in (advised | {RECIPE: "the full recipe"}).items()
            if advice in row
        ]
        told = judged(row[RECIPE], row["nothing"])
        lines.append(f"- {MODELS[table.program]}: {', '.join(kept)}: {told}.")
    return "\n".join(lines)


def of_registries(rows: Sequence[Row]) -> str:
    """What the registries gain per round, with and without the advice given most."""
    row = {one.advice: one for one in rows}
    told = [
        f"{counted(row[advice].gradients)} and {counted(row[advice].functions)} with {text}"
        for advice, text in (
            ("nothing", "nothing"),
            ("clear_session", "`clear_session()`"),
            (RECIPE, "the full recipe"),
            ("mend", "`lowwater.mend()`"),
        )
        if advice in row
    ]
    return f"Gradients and functions that each small model leaves there: {', '.join(told)}."


def of_waiting(rows: Sequence[Row]) -> str:
    """How much of the growth only waits for the collector."""
    row = {one.advice: one for one in rows}
    nothing = row["nothing"]
    if nothing.as_is_bytes is None or nothing.collected_bytes is None:
        return "How much waits for the collector was not measured."
    waits = max(0.0, nothing.as_is_bytes - nothing.collected_bytes)
    return (
        f"Without any advice, the small model makes bytes in use grow by "
        f"{nothing.as_is_bytes / 1e6:.2f} MB per round; "
        f"{waits / 1e6:.2f} MB of them only wait for the collector, "
        f"and {nothing.collected_bytes / 1e6:.2f} MB stay when it has run."
    )


def of_the_other_backends(tables: Mapping[Table, Sequence[Row]]) -> str:
    """One sentence for each table of JAX and torch."""
    lines = []
    for table, rows in tables.items():
        if table.backend == TF:
            continue
        row = {one.advice: one for one in rows}
        where = f"- {NAMES[table.backend]}, {MODELS[table.program]}"
        nothing, recipe = row.get("nothing", Row("")), row.get(RECIPE, Row(""))
        if nothing.collected_bytes is None:
            lines.append(f"{where}: {NOT_MEASURED}, {nothing.why_not or 'no such run'}.")
        elif ROWS["is_flat"](nothing):
            grows, kept = megabytes(nothing.as_is_bytes), megabytes(nothing.collected_bytes)
            lines.append(
                f"{where}: without any advice {grows} MB per round, which wait for the collector; "
                f"{kept} MB stay after it."
            )
        else:
            numbers = [megabytes(one.collected_bytes) for one in (nothing, recipe)]
            told = judged(recipe, nothing)
            lines.append(
                f"{where}: {numbers[0]} MB stay after a collection, "
                f"with the full recipe {numbers[1]} MB: {told}."
            )
    return "\n".join(lines)


def of_rounds(results: Mapping[str, Any]) -> str:
    """How many rounds were counted, by model."""
    told = []
    for program, name in MODELS.items():
        cells = [cell for cell in results["cells"] if cell["program"] == program]
        counts = sorted({len(cell["rounds"]) for cell in cells if "rounds" in cell})
        told += [f"{name} {' or '.join(map(str, counts))}"] if counts else []
    return f"Rounds that count: {', '.join(told)}."


def of_devices(results: Mapping[str, Any] | None) -> dict[str, str]:
    """What the page says of memory on a device."""
    if results is None:
        return dict.fromkeys(("device_short", "device_tables"), f"{NOT_MEASURED.capitalize()}.")
    return {
        "device_short": DEVICE["in_short"](results),
        "device_tables": DEVICE["tables"](results),
    }


def page(
    results: Mapping[str, Any], template: str, on_device: Mapping[str, Any] | None = None
) -> str:
    """The whole page; the template holds the words that no number changes."""
    tables = rows_by_table(results)
    dense = next(rows for table, rows in tables.items() if (table.program, table.backend) == _FIRST)
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    return Template(template).substitute(
        machine=f"{results['system']}, Python {results['python']}, {results['cores']} cores, "
        f"no GPU used; {versions}",
        rounds=of_rounds(results),
        flat=f"{FLAT_BYTES / 1e6:.2f}",
        recipe=of_the_recipe(tables),
        verdicts=verdicts(dense),
        registries=of_registries(dense),
        waiting=of_waiting(dense),
        others=of_the_other_backends(tables),
        tables=all_tables(results),
        **of_devices(on_device),
    )


def write(results: Mapping[str, Any]) -> None:
    """Write the page into the documentation; what `devices.py` has measured is kept beside it."""
    on_device = json.loads(ON_DEVICE.read_text()) if ON_DEVICE.exists() else None
    template = TEMPLATE.read_text(encoding="utf-8")
    TARGET.write_text(page(results, template, on_device), encoding="utf-8")
    print(f"written: {TARGET}")
