"""`lowwater footprint --json FILE`, a contract: `lowwater.footprint/1`.

What is not known is null, and a sentence beside it says why.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from importlib.resources import files
from typing import Any, Final

from lowwater.model.footprint import Buffer, Estimate, StepPeak, TensorLimit
from lowwater.model.measured import NotMeasured
from lowwater.sizing.answer import Answer
from lowwater.sizing.curve import Curve
from lowwater.sizing.largest import LargestBatch

SCHEMA_NAME: Final = "lowwater.footprint/1"


def render(answer: Answer) -> str:
    """In ASCII, so that any pipe can take it."""
    return json.dumps(to_dict(answer), indent=2) + "\n"


def to_dict(answer: Answer) -> dict[str, Any]:
    """The whole answer as plain data."""
    footprint = answer.footprint
    return {
        "schema": SCHEMA_NAME,
        "model": answer.model,
        "place": footprint.place,
        "batch_size": footprint.batch_size,
        "peak": _estimate(footprint.at(footprint.batch_size)),
        "parts": [asdict(part) for part in footprint.parts],
        "steps": {str(kind): _curve(curve) for kind, curve in footprint.curves.items()},
        "length": None if footprint.length is None else asdict(footprint.length),
        "limit": _limit(answer.limit),
        "largest_batch": _largest(answer.largest),
        "need": None if answer.need is None else asdict(answer.need),
        "pipeline": [*map(_buffer, answer.pipeline)],
        "remedies": [asdict(one) for one in answer.remedies],
        "beside_bytes": _or_null(answer.beside_bytes),
        "script": None if answer.story is None else asdict(answer.story),
        "notes": [*footprint.notes],
    }


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "measured": [*_points(curve.points)],
        "how": None if curve.why_not else curve.extension.how,
        "error": None if curve.why_not else curve.extension.error,
        "why_not": curve.why_not or None,
    }


def _points(points: Iterable[StepPeak]) -> Iterable[dict[str, Any]]:
    for point in points:
        yield {
            "batch_size": point.batch_size,
            "peak_bytes": point.peak_bytes,
            "peaks_bytes": [*point.peaks_bytes],
            "needed_bytes": point.needed_bytes,
            "step_s": point.step_s,
        }


def _estimate(told: Estimate) -> dict[str, Any]:
    return asdict(told)


def _limit(limit: TensorLimit | NotMeasured) -> dict[str, Any]:
    if isinstance(limit, NotMeasured):
        return {"limit_bytes": None, "is_given": False, "because": limit.why}
    return asdict(limit)


def _largest(largest: LargestBatch | NotMeasured) -> dict[str, Any]:
    if isinstance(largest, NotMeasured):
        told: dict[str, Any] = {"batch_size": None, "is_confirmed": False, "peak_bytes": None}
        return {**told, "because": largest.why}
    return {
        "batch_size": int(largest),
        "is_confirmed": largest.is_confirmed,
        "peak_bytes": largest.peak_bytes,
        "because": largest.because,
    }


def _buffer(buffer: Buffer) -> dict[str, Any]:
    size = buffer.size_bytes
    why = size.why if isinstance(size, NotMeasured) else None
    return {"stage": buffer.stage, "size_bytes": _or_null(size), "because": why}


def _or_null(value: int | NotMeasured) -> int | None:
    return None if isinstance(value, NotMeasured) else value


def schema() -> dict[str, Any]:
    """The JSON Schema of this contract, as it is shipped."""
    text = files("lowwater.report").joinpath("footprint.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
