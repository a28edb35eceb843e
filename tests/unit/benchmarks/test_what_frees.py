import runpy
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
PAGE = runpy.run_path(str(BENCHMARKS / "what_frees_page.py"))
PLAN, ROWS = PAGE["PLAN"], PAGE["ROWS"]
PROGRAM = runpy.run_path(str(BENCHMARKS / "what_frees.py"))
RECIPE = PLAN["RECIPE"]


def a_cell(advice, kept_bytes, *, waiting_bytes=0, program="dense", backend="tensorflow"):
    """Six rounds that keep so much each, and leave so much for the collector."""

    def level(in_use, count):
        counts = {"functions": 24 * count, "gradients": 2 * count}
        return {"in_use_bytes": in_use, "resident_bytes": in_use} | counts

    per_round = kept_bytes + waiting_bytes
    return {
        "program": program,
        "backend": backend,
        "advice": advice,
        "before": level(0, 0),
        "rounds": [level(per_round * count, count) for count in range(1, 7)],
        "after": level(6 * kept_bytes, 6),
    }


def results(*cells):
    surroundings = {"schema": "lowwater.what_frees/1"}
    surroundings |= {"system": "Linux", "python": "3.11", "cores": 2, "versions": {"keras": "3"}}
    return surroundings | {"cells": list(cells)}


def on_device(*rows):
    found = rows or (a_row("nothing", 140), a_row("release", 0), a_row("isolated", 0, driver=0))
    return {"context_bytes": 100_000_000, "rows": list(found)}


def a_row(advice, kept_mb, *, driver=266, after_end=0, program="models"):
    """What twenty rounds leave on a device."""
    levels = {"in_use_bytes": kept_mb * 1_000_000, "driver_bytes": driver * 1_000_000}
    row = {"program": program, "advice": advice, "as_is": levels, "collected": levels}
    return row | {"driver_after_end_bytes": after_end}


def row(advice, kept_bytes):
    return ROWS["row_of"](a_cell(advice, kept_bytes))


def test_slope_of_a_straight_line_is_its_step():
    assert ROWS["slope"]([5, 8, 11, 14]) == pytest.approx(3)


def test_slope_of_one_round_is_zero():
    assert ROWS["slope"]([5]) == 0


def test_row_tells_waiting_garbage_from_what_is_kept():
    found = ROWS["row_of"](a_cell("nothing", 6_000_000, waiting_bytes=4_000_000))

    assert found.as_is_bytes == pytest.approx(10_000_000)
    assert found.collected_bytes == pytest.approx(6_000_000)
    assert (found.functions, found.gradients) == (24, 2)


@pytest.mark.parametrize(
    ("count", "told"),
    [(4_610_000, "+4.61"), (143_210_000, "+143"), (-300, "0.00"), (None, "not measured")],
)
def test_megabytes(count, told):
    assert ROWS["megabytes"](count) == told


@pytest.mark.parametrize(
    ("kept", "nothing", "told"),
    [
        (5_800_000, 6_500_000, "does not help"),
        (2_000_000, 6_500_000, "in part"),
        (100_000, 6_500_000, "helps"),
        (20_000, 30_000, "nothing to free"),
    ],
)
def test_advice_is_judged_by_what_stays_after_a_collection(kept, nothing, told):
    assert ROWS["judged"](row("collect", kept), row("nothing", nothing)) == told


def test_table_has_one_row_per_advice():
    rows = [row("nothing", 6_000_000), row(RECIPE, 3_000_000)]

    assert PAGE["model_table"](rows, with_registries=True).splitlines()[2:] == [
        "| nothing | +6.00 | +6.00 | 100 % | +24 | +2 | +6.00 |",
        "| the full recipe | +3.00 | +3.00 | 50 % | +24 | +2 | +3.00 |",
    ]


def test_backend_that_is_not_installed_is_told_and_never_zero():
    missing = {"program": "dense", "backend": "torch", "advice": "nothing"}
    missing |= {"not_measured": "torch is not installed"}

    text = PAGE["all_tables"](results(missing))

    assert text == "### torch: three Dense layers\n\nNot measured: torch is not installed."


def test_page_says_that_the_recipe_does_not_help_only_where_it_does_not():
    template = "$recipe"
    leaks = results(a_cell("nothing", 6_000_000), a_cell(RECIPE, 5_800_000))
    frees = results(a_cell("nothing", 6_000_000), a_cell(RECIPE, 0))

    assert PAGE["page"](leaks, template).endswith("the full recipe leaves +5.80 MB: does not help.")
    assert PAGE["page"](frees, template).endswith("the full recipe leaves 0.00 MB: helps.")


def test_template_has_no_place_that_stays_empty():
    template = (BENCHMARKS / "what_frees_template.md").read_text(encoding="utf-8")

    page = PAGE["page"](results(a_cell("nothing", 6_000_000)), template, on_device())

    assert "$" not in page


def test_every_step_of_every_advice_has_its_words():
    asked = {
        step
        for table in PLAN["TABLES"]
        if table.program in PLAN["MODELS"]
        for advice in table.advice
        for step in advice.split("+")
    }
    asked |= {step for advice in PLAN["ON_DEVICE_MODELS"] for step in advice.split("+")}

    assert asked == set(PLAN["STEPS"])


def test_backend_that_is_gone_does_not_undo_what_was_measured():
    known = results(a_cell("nothing", 6_000_000, backend="torch"))
    missing = {"program": "dense", "backend": "torch", "advice": "nothing"}
    missing |= {"not_measured": "torch is not installed"}

    assert PROGRAM["merged"](known, results(missing))["cells"] == known["cells"]


def test_cells_of_another_version_are_forgotten():
    known = results(a_cell("nothing", 6_000_000)) | {"versions": {"keras": "2"}}
    new = results(a_cell(RECIPE, 5_000_000))

    assert PROGRAM["merged"](known, new) == new


def test_device_table_has_what_is_in_use_and_what_the_driver_counts():
    text = PAGE["DEVICE"]["tables"](
        on_device(a_row("nothing", 140), a_row(RECIPE, 133), a_row("tensor", 0))
    )

    assert text.splitlines()[2:4] == [
        "| nothing | 140.0 | 140.0 | 100 % | 266.0 |",
        "| the full recipe | 133.0 | 133.0 | 95 % | 266.0 |",
    ]


def test_row_of_a_device_that_was_not_measured_says_why():
    missing = {"program": "models", "advice": "del", "not_measured": "not finished after 900 s"}
    text = PAGE["DEVICE"]["tables"](on_device(a_row("nothing", 140), missing))

    assert "| `del model` | not measured: not finished after 900 s |  |  |  |" in text


def test_recipe_is_said_not_to_help_on_a_device_only_where_it_does_not():
    leaks = on_device(
        a_row("nothing", 140), a_row(RECIPE, 133), a_row("isolated", 0, driver=0, after_end=5)
    )
    frees = on_device(a_row("nothing", 140), a_row(RECIPE, 0), a_row("isolated", 0, driver=0))

    assert "**Does not help** (more than 60 % stays in use): the full recipe." in (
        PAGE["DEVICE"]["in_short"](leaks)
    )
    assert "counted 0 bytes in 2 of 3 rows." in PAGE["DEVICE"]["in_short"](leaks)
    assert "**Does not help**" not in PAGE["DEVICE"]["in_short"](frees)
    assert "counted 0 bytes in 3 of 3 rows." in PAGE["DEVICE"]["in_short"](frees)


def test_page_without_numbers_of_a_device_says_so():
    page = PAGE["page"](results(a_cell("nothing", 6_000_000)), "$device_short")

    assert page == "Not measured."
