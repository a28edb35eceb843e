"""The part of the JSON report that only `--guard` fills."""

from typing import Any

from lowwater.model.guard import Guarded


def to_dict(guarded: Guarded | None) -> dict[str, Any] | None:
    """What the guard did; None where it let the program alone."""
    if guarded is None:
        return None
    return {
        "after": {
            "unit": guarded.unit,
            "where": guarded.where or None,
            "rounds": guarded.rounds,
            "elapsed_s": guarded.elapsed_s,
        },
        "because": guarded.because,
        "place": guarded.place,
        "limit": guarded.limit,
        "limit_bytes": guarded.limit_bytes,
        "left_bytes": guarded.left_bytes,
        "needed_bytes": guarded.needed_bytes,
        "growth_bytes_per_unit": guarded.growth_bytes,
        "fit": guarded.fit,
        "epochs_completed": guarded.epochs_completed,
        "is_within_epoch": guarded.is_within_epoch,
        "is_raised": guarded.is_raised,
        "saved": list(guarded.saved),
        "has_optimizer": guarded.has_optimizer if guarded.saved else None,
        "problem": guarded.problem or None,
        "later_fits": guarded.later_fits,
    }
