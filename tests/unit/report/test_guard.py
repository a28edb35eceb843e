"""One clear block says that the guard has ended training, why, and how to continue."""

import json
from collections.abc import Callable
from dataclasses import replace

import jsonschema
import pytest

from lowwater.model import Diagnosis
from lowwater.model.guard import Guarded
from lowwater.report.json import render as as_json
from lowwater.report.json import schema
from lowwater.report.text import render

Told = Callable[[str], Diagnosis]
MIB = 1 << 20
GUARDED = Guarded(
    elapsed_s=53.0,
    unit="epoch",
    rounds=32,
    place="host",
    limit="control group",
    limit_bytes=1024 * MIB,
    left_bytes=35 * MIB,
    needed_bytes=50 * MIB,
    growth_bytes=20 * MIB,
    because="host memory in use rose by 20.0 MiB per epoch over the last 30 epochs, and 35.0 MiB "
    "of the 1.0 GiB of the control group was left",
    fit=1,
    epochs_completed=32,
    saved=("lowwater-rescue.keras",),
)


@pytest.fixture
def block(told: Told) -> Callable[..., str]:
    """The block of the guard, with these changes."""

    def drawn(**changes: object) -> str:
        diagnosis = replace(told("leak"), guarded=replace(GUARDED, **changes))  # type: ignore[arg-type]
        _, _, rest = render(diagnosis).partition("Ended by the guard\n")
        return rest.partition("\n\n")[0]

    return drawn


def test_block_says_when_why_and_what_was_saved(block: Callable[..., str]) -> None:
    assert block() == (
        "  Training ended after epoch 32, 53.0 s into the run, before memory ran out:\n"
        "  host memory in use rose by 20.0 MiB per epoch over the last 30 epochs, and\n"
        "  35.0 MiB of the 1.0 GiB of the control group was left.\n"
        "  One more epoch and saving the model needed about 50.0 MiB.\n"
        "  Saved, with the state of the optimizer: `lowwater-rescue.keras`"
    )


def test_epoch_that_was_cut_short_starts_over(block: Callable[..., str]) -> None:
    told = block(unit="batch", rounds=4211, epochs_completed=2, is_within_epoch=True, fit=3)

    assert told.startswith("  Training ended after 4,211 batches, within epoch 3 of `fit` call 3,")
    assert told.endswith("\n  Epoch 3 was cut short; it starts over from there.")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"saved": (), "problem": "OSError: [Errno 28] No space left on device"},
            "Nothing was saved: OSError: [Errno 28] No space left on device.",
        ),
        (
            {
                "saved": ("lowwater-rescue.weights.h5",),
                "has_optimizer": False,
                "problem": "TypeError: no get_config",
            },
            "Only the weights were saved: `lowwater-rescue.weights.h5` (TypeError: no",
        ),
        ({"later_fits": 2}, "2 later `fit` calls of this run ended after the first batch as well."),
        (
            {
                "unit": "iteration",
                "where": "train.py:9",
                "is_raised": True,
                "epochs_completed": None,
            },
            "A loop ended after 32 iterations at train.py:9, 53.0 s into the run,",
        ),
    ],
)
def test_block_says_what_went_otherwise(
    block: Callable[..., str], changes: dict[str, object], said: str
) -> None:
    assert said in block(**changes)


def test_next_steps_fix_the_leak_and_then_continue(told: Told) -> None:
    _, _, steps = render(replace(told("leak"), guarded=GUARDED)).partition("What to do next\n")

    assert steps.index("1. ") < steps.index("2. Continue from the saved model, in a new process:")
    assert 'load_model("lowwater-rescue.keras"); model.fit(..., initial_epoch=32)\n' in steps


def test_run_without_a_leak_is_no_plain_one_where_the_guard_has_acted(told: Told) -> None:
    assert "Ended by the guard" in render(replace(told("flat"), guarded=GUARDED))


def test_json_follows_the_schema(told: Told) -> None:
    report = json.loads(as_json(replace(told("leak"), guarded=GUARDED)))

    jsonschema.validate(report, schema())
    assert report["guard"]["epochs_completed"] == 32
    assert json.loads(as_json(told("leak")))["guard"] is None
