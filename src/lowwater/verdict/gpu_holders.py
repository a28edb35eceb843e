"""Which processes on a GPU look idle, and how the memory of each could be freed.

It says "looks idle" and no more: whether a process is forgotten, only its user knows.
"""

from collections.abc import Iterator
from typing import Final

from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import Glance, GpuHolder, Gpus, HeldGpu, HeldGpus, ToFree
from lowwater.model.gpus import Gpu, GpuProcess
from lowwater.model.processes import Process
from lowwater.model.units import format_duration

# Share of the time between two looks. A notebook kernel that waits for input wakes up now and then.
_IDLE_SHARE: Final = 0.02
_ENDED: Final = "the process has ended"
_JUST_BEGUN: Final = "seen only once"


def held(before: Glance, after: Glance) -> HeldGpus:
    """Every GPU as it was at the second look, with what became of each process since the first."""
    if isinstance(after.gpus, NotMeasured):
        return after.gpus
    return tuple(
        one if isinstance(one, NotMeasured) else HeldGpu(one, _holders(one, before, after))
        for one in after.gpus
    )


def largest_first(gpu: Gpu) -> tuple[GpuProcess, ...]:
    """The processes of a GPU; those whose bytes are not known come last."""
    if isinstance(gpu.processes, NotMeasured):
        return ()
    return tuple(sorted(gpu.processes, key=lambda one: (-_known(one.used_bytes), one.pid)))


def _holders(gpu: Gpu, before: Glance, after: Glance) -> tuple[GpuHolder, ...] | NotMeasured:
    if isinstance(gpu.processes, NotMeasured):
        return gpu.processes
    return tuple(_holder(one, gpu, before, after) for one in largest_first(gpu))


def _holder(on_gpu: GpuProcess, gpu: Gpu, before: Glance, after: Glance) -> GpuHolder:
    process = after.processes.get(on_gpu.pid, NotMeasured(_ENDED))
    if isinstance(process, NotMeasured):
        return GpuHolder(on_gpu, process, process, process.why, None)
    used_s = _cpu_since(before.processes.get(on_gpu.pid), process)
    busy_percent = _utilization(gpu, before.gpus)
    idle, because = _activity(used_s, after.at_s - before.at_s, busy_percent, gpu.index)
    return GpuHolder(on_gpu, process, idle, because, to_free(process))


def _activity(
    used_s: float | NotMeasured, elapsed_s: float, busy_percent: int | NotMeasured, index: int
) -> tuple[bool | NotMeasured, str]:
    """Idle is who uses no processor time on a GPU that computes nothing for anybody."""
    if isinstance(used_s, NotMeasured):
        return used_s, used_s.why
    used = f"it used {format_duration(used_s)} of processor time in {format_duration(elapsed_s)}"
    if used_s > _IDLE_SHARE * elapsed_s:
        return False, used
    if isinstance(busy_percent, NotMeasured):
        why = f"the utilization of GPU {index} is not measured: {busy_percent.why}"
        return NotMeasured(why), why
    if busy_percent:
        # Perhaps with another process: the driver tells it for the whole GPU.
        return False, f"GPU {index} is {busy_percent} % busy"
    return True, f"GPU {index} is 0 % busy, and {used}"


def _cpu_since(before: Process | NotMeasured | None, after: Process) -> float | NotMeasured:
    # Another process may have got the same number.
    if not isinstance(before, Process) or before.began_s != after.began_s:
        return NotMeasured(_JUST_BEGUN)
    if isinstance(before.cpu_s, NotMeasured):
        return before.cpu_s
    if isinstance(after.cpu_s, NotMeasured):
        return after.cpu_s
    return max(0.0, after.cpu_s - before.cpu_s)


def _utilization(gpu: Gpu, before: Gpus) -> int | NotMeasured:
    """The higher of both looks, so that one moment of rest is not taken for the rule."""
    if isinstance(gpu.utilization, NotMeasured):
        return gpu.utilization
    return max([gpu.utilization, *_utilizations(gpu.uuid, before)])


def _utilizations(uuid: str, gpus: Gpus) -> Iterator[int]:
    for one in () if isinstance(gpus, NotMeasured) else gpus:
        if isinstance(one, Gpu) and one.uuid == uuid and isinstance(one.utilization, int):
            yield one.utilization


def to_free(process: Process) -> ToFree:
    """What would end the process, said and never done."""
    if process.is_own_user is not True:
        whom = "its user" if isinstance(process.user, NotMeasured) else f"user {process.user}"
        return ToFree(f"ask {whom}")
    if process.is_kernel:
        return ToFree("restart or shut down the kernel")
    command = f"kill {process.pid}"
    if process.caller is not None:
        return ToFree(f"end the isolated call of process {process.caller}", command)
    return ToFree("end the process", command)


def _known(used_bytes: int | NotMeasured) -> int:
    return -1 if isinstance(used_bytes, NotMeasured) else used_bytes
