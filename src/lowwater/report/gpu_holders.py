"""Who holds the memory of a GPU, in sentences: for `lowwater gpu`, and before a training."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import HeldGpus, Need
from lowwater.model.gpus import Gpu, GpuProcess
from lowwater.model.printable import one_line
from lowwater.model.processes import Process
from lowwater.model.units import format_bytes
from lowwater.verdict.gpu_holders import largest_first

Processes = Mapping[int, Process | NotMeasured]
Measure = Callable[[str], int]

MIG: Final = "MIG is on: the bytes are those of the whole GPU, not those of one instance."
# Characters of a command line in the middle of a sentence.
_WIDEST: Final = 40
_MOST_NAMED: Final = 3


def who_holds(gpu: Gpu, processes: Processes, most: int = _MOST_NAMED) -> str:
    """A sentence without its capital and its full stop: the largest holders, and what is left.

    `process 4711 (python train.py, user ann) holds 7.1 GiB of GPU 0`
    """
    named = largest_first(gpu)
    parts = [holds(one, gpu.index, processes.get(one.pid)) for one in named[:most]]
    if len(named) > most:
        count = len(named) - most
        parts.append(f"{count} more {'process' if count == 1 else 'processes'}")
    if gpu.unattributed is not None:
        parts.append(unattributed(gpu))
    return "; ".join(parts) or f"no process holds memory of GPU {gpu.index}"


def holds(one: GpuProcess, index: int, process: Process | NotMeasured | None) -> str:
    """One process with its command and its user, as far as they are known."""
    who = f"process {one.pid}{_described(process)}"
    if isinstance(one.used_bytes, NotMeasured):
        return f"{who} is on GPU {index}"
    return f"{who} holds {format_bytes(one.used_bytes)} of GPU {index}"


def unattributed(gpu: Gpu) -> str:
    """The bytes that the driver shows for no process, with the reason; nothing without any."""
    rest = gpu.unattributed
    if rest is None:
        return ""
    used = format_bytes(rest.used_bytes)
    return f"{used} of GPU {gpu.index} is used, but by no process in the list: {one_line(rest.why)}"


def shown_command(process: Process, width: int = _WIDEST, measured: Measure = len) -> str:
    """Its command line in so many characters; for an isolated call, whose it is."""
    if process.caller is not None:
        return f"isolated call of process {process.caller}"
    command = process.command
    return "" if isinstance(command, NotMeasured) else shortened(command, width, measured)


def shortened(text: str, width: int, measured: Measure = len) -> str:
    """As many whole words as fit before a `…`; of one word that does not fit, its beginning."""
    if measured(text) <= width:
        return text
    first, *_ = words = text.split(" ")
    fitting = [" ".join(words[:count]) for count in range(1, len(words))]
    kept = [part for part in fitting if measured(part) <= width - 2]
    if kept:
        return f"{kept[-1]} …"
    while first and measured(first) > width - 1:
        first = first[:-1]
    return f"{first}…"


def need_of(need_bytes: int, gpus: HeldGpus) -> Need:
    """Whether some GPU has so much free; if none has, who holds it."""
    wanted = format_bytes(need_bytes)
    if isinstance(gpus, NotMeasured):
        return Need(need_bytes, is_met=False, because=none_measured(gpus))
    # What one instance has free is not told by the sum over all.
    whole = [one.gpu for one in gpus if not isinstance(one, NotMeasured) and not one.gpu.is_mig]
    for gpu in whole:
        if gpu.free_bytes >= need_bytes:
            because = f"GPU {gpu.index} has {format_bytes(gpu.free_bytes)} free."
            return Need(need_bytes, is_met=True, because=because)
    reasons = " ".join(_why_too_little(gpus, need_bytes))
    return Need(need_bytes, is_met=False, because=f"No GPU has {wanted} free. {reasons}")


def none_measured(gpus: NotMeasured) -> str:
    """Why there is nothing to show, in one sentence."""
    return f"No GPU to show: {one_line(gpus.why)}."


def one_not_measured(index: int, gpu: NotMeasured) -> str:
    """Why one of several GPUs is not shown."""
    return f"GPU {index} is not measured: {one_line(gpu.why)}."


def _why_too_little(gpus: HeldGpus, need_bytes: int) -> Iterator[str]:
    for index, one in enumerate(() if isinstance(gpus, NotMeasured) else gpus):
        if isinstance(one, NotMeasured):
            yield one_not_measured(index, one)
            continue
        gpu = one.gpu
        holders = () if isinstance(one.holders, NotMeasured) else one.holders
        seen = {holder.on_gpu.pid: holder.process for holder in holders}
        free = f"GPU {gpu.index} has {format_bytes(gpu.free_bytes)} free"
        if gpu.free_bytes < need_bytes:
            free += f", {format_bytes(need_bytes - gpu.free_bytes)} too little"
        yield f"{free}: {who_holds(gpu, seen)}." + (f" {MIG}" if gpu.is_mig else "")


def _described(process: Process | NotMeasured | None) -> str:
    if not isinstance(process, Process):
        return ""
    user = None if isinstance(process.user, NotMeasured) else f"user {one_line(process.user)}"
    parts = [*filter(None, [shown_command(process), user])]
    return f" ({', '.join(parts)})" if parts else ""
