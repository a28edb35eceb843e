"""`lowwater gpu --json`, a contract: `lowwater.gpu/1`.

What was not measured is null, and `not_measured` beside it says why.
"""

import json
from dataclasses import asdict
from typing import Any, Final

from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import GpuHolder, HeldGpu, HeldGpus, Need
from lowwater.model.processes import Process

SCHEMA_NAME: Final = "lowwater.gpu/1"
_OF_GPU: Final = ("name", "uuid", "total_bytes", "used_bytes", "free_bytes", "is_mig")
_ALL_OF_GPU: Final = (
    *_OF_GPU,
    "utilization_percent",
    "unattributed_bytes",
    "unattributed_because",
    "processes",
)
_OF_PROCESS: Final = (
    "user",
    "is_own_user",
    "age_s",
    "command",
    "is_parent_gone",
    "is_notebook_kernel",
    "is_isolated",
    "caller_pid",
)


def render(gpus: HeldGpus, need: Need | None = None, *, indent: int | None = 2) -> str:
    """In ASCII, so that any pipe can take it; without `indent` on one line."""
    return json.dumps(to_dict(gpus, need), indent=indent) + "\n"


def to_dict(gpus: HeldGpus, need: Need | None = None) -> dict[str, Any]:
    """All GPUs as plain data."""
    told = gpus if isinstance(gpus, NotMeasured) else [_gpu(*each) for each in enumerate(gpus)]
    return {
        "schema": SCHEMA_NAME,
        **_with_reasons({"gpus": told}),
        "need": asdict(need) if need is not None else None,
    }


def _gpu(index: int, one: HeldGpu | NotMeasured) -> dict[str, Any]:
    if isinstance(one, NotMeasured):
        return {"index": index, **_with_reasons(dict.fromkeys(_ALL_OF_GPU, one))}
    gpu, holders = one.gpu, one.holders
    rest = gpu.unattributed
    told = {
        "index": gpu.index,
        **{name: getattr(gpu, name) for name in _OF_GPU},
        "utilization_percent": gpu.utilization,
        "unattributed_bytes": rest.used_bytes if rest else 0,
        "unattributed_because": rest.why if rest else None,
        "processes": holders if isinstance(holders, NotMeasured) else [*map(_holder, holders)],
    }
    return _with_reasons(told)


def _holder(holder: GpuHolder) -> dict[str, Any]:
    free = holder.to_free
    told = {
        "pid": holder.on_gpu.pid,
        "used_bytes": holder.on_gpu.used_bytes,
        **_process(holder.process),
        "looks_idle": holder.looks_idle,
        "because": holder.because,
        "to_free": asdict(free) if free is not None else None,
    }
    return _with_reasons(told)


def _process(process: Process | NotMeasured) -> dict[str, Any]:
    if isinstance(process, NotMeasured):
        return dict.fromkeys(_OF_PROCESS, process)
    told = (
        process.user,
        process.is_own_user,
        round(process.age_s, 3),
        process.command,
        process.is_parent_gone,
        process.is_kernel,
        process.caller is not None,
        process.caller,
    )
    return dict(zip(_OF_PROCESS, told, strict=True))


def _with_reasons(told: dict[str, Any]) -> dict[str, Any]:
    reasons = {name: value.why for name, value in told.items() if isinstance(value, NotMeasured)}
    plain = {name: None if name in reasons else value for name, value in told.items()}
    return {**plain, "not_measured": reasons}
