"""Asks NVIDIA's driver about its GPUs, through NVML.

Every call may fail: there is no driver, it is older than the library, a container hides processes,
a GPU is lost in the middle of a run. Or it may never return, because a GPU hangs. Then the answer
is the reason, and never a number that may be wrong. It is asked from beside the program, not inside
it: NVML opens files, and keeps them open until it is closed. Only `lowwater.memory()` asks inside,
because the program wants to know.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from lowwater.model import NotMeasured
from lowwater.model.device_settings import DeviceSettings
from lowwater.model.gpus import Gpu, GpuProcess
from lowwater.model.interruption import let_through, quietly
from lowwater.probes.in_time import NoAnswerError, Patience

T = TypeVar("T")

NOT_INSTALLED: Final = "nvidia-ml-py is not installed; try: pip install 'lowwater[gpu]'"
NO_GPU: Final = "the NVIDIA driver lists no GPU"
NO_DRIVER: Final = "no NVIDIA driver was found"
# To start the driver for many GPUs takes seconds.
_LONGEST_S: Final = 10.0
NO_ANSWER: Final = f"the NVIDIA driver did not answer within {_LONGEST_S:.0f} s"
_FOREIGN: Final = "the driver's process IDs are not those of this container"
_ZERO: Final = "the driver reports 0 bytes for this process"
_HIDDEN: Final = "the driver does not report the bytes of each process here"
_OLDER: Final = "the NVIDIA driver is older than nvidia-ml-py"
# Errors of NVML by their numbers, which are the same in all its versions.
_REASONS: Final = {
    3: "not supported by this GPU or its driver",
    4: "the driver does not permit it",
    9: "the NVIDIA driver is not loaded",
    12: NO_DRIVER,
    13: _OLDER,
    15: "the GPU is lost: the driver no longer reaches it",
    16: "the GPU must be reset",
    18: "the NVIDIA driver and its library have different versions",
}
_FUNCTION_NOT_FOUND: Final = 13
_PATIENCE: Final = Patience(_LONGEST_S)


class Driver:
    """A connection to NVML; `close` it."""

    def __init__(self, nvml: Any) -> None:  # noqa: ANN401 - the module `pynvml`
        """Take the module after its `nvmlInit`."""
        self._nvml = nvml

    @classmethod
    def opened(cls) -> "Driver | NotMeasured":
        """Connect to the driver, where there is one and we may."""
        nvml = _asked(_module)
        if isinstance(nvml, NotMeasured):
            return nvml
        # Another `pynvml` may lack it.
        connected = _answered(lambda: nvml.nvmlInit())  # noqa: PLW0108
        return connected if isinstance(connected, NotMeasured) else cls(nvml)

    def close(self) -> None:
        """Let go of the driver."""
        with quietly():
            _PATIENCE.answer(self._nvml.nvmlShutdown)

    def version(self) -> str | NotMeasured:
        """The version of the driver."""
        return _answered(lambda: _text(self._nvml.nvmlSystemGetDriverVersion()))

    def gpus(self) -> tuple[Gpu | NotMeasured, ...] | NotMeasured:
        """All GPUs, in the order of `nvidia-smi`; for each that does not answer, the reason."""
        found = _answered(self._gpus)
        return found or NotMeasured(NO_GPU)

    def _gpus(self) -> tuple[Gpu | NotMeasured, ...]:
        count = self._nvml.nvmlDeviceGetCount()
        return tuple(_asked(partial(self._gpu, index)) for index in range(count))

    def _gpu(self, index: int) -> Gpu:
        nvml = self._nvml
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        memory = self._memory(handle)
        return Gpu(
            index,
            _text(nvml.nvmlDeviceGetName(handle)),
            _text(nvml.nvmlDeviceGetUUID(handle)),
            memory.total,
            memory.used,
            memory.free,
            _asked(lambda: tuple(self._processes(handle))),
            _asked(lambda: int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)),
            self._is_mig(handle),
        )

    def _memory(self, handle: Any) -> Any:  # noqa: ANN401
        """The newer answer does not count as used what the driver reserves for itself."""
        nvml = self._nvml
        newer = partial(nvml.nvmlDeviceGetMemoryInfo, handle, nvml.nvmlMemory_v2)
        return _first_known(newer, partial(nvml.nvmlDeviceGetMemoryInfo, handle))

    def _is_mig(self, handle: Any) -> bool:  # noqa: ANN401
        mode = _asked(lambda: self._nvml.nvmlDeviceGetMigMode(handle)[0])
        return mode == 1

    def _processes(self, handle: Any) -> Iterator[GpuProcess]:  # noqa: ANN401
        listed = self._all_listed(handle)
        if not _all_exist(listed):
            # One of them may have ended since it was listed.
            listed = self._all_listed(handle)
        if not _all_exist(listed):
            # A number that exists here may be another process by chance.
            raise _ForeignProcessIdsError
        for pid, used in sorted(listed.items()):
            yield GpuProcess(pid, _told_bytes(used))

    def _all_listed(self, handle: Any) -> dict[int, int | None]:  # noqa: ANN401
        """Those that compute, then those that only draw; one that does both is in both lists."""
        drawing = _asked(lambda: self._listed(handle, "Graphics"))
        listed = {} if isinstance(drawing, NotMeasured) else drawing
        return {**listed, **self._listed(handle, "Compute")}

    def _listed(self, handle: Any, kind: str) -> dict[int, int | None]:  # noqa: ANN401
        name = f"nvmlDeviceGet{kind}RunningProcesses"
        newer, older = getattr(self._nvml, name), getattr(self._nvml, f"{name}_v2")
        found = _first_known(partial(newer, handle), partial(older, handle))
        return {one.pid: one.usedGpuMemory for one in found}


def with_sizes(wanted: DeviceSettings) -> DeviceSettings:
    """The same with the sizes of all GPUs, or the reason why they are unknown."""
    sizes = gpu_sizes()
    if isinstance(sizes, NotMeasured):
        return replace(wanted, no_sizes=sizes.why)
    return replace(wanted, sizes=sizes)


def gpu_sizes() -> tuple[int, ...] | NotMeasured:
    """The bytes of each GPU; connects to the driver for this one question."""
    driver = Driver.opened()
    if isinstance(driver, NotMeasured):
        return driver
    try:
        gpus = driver.gpus()
    finally:
        driver.close()
    if isinstance(gpus, NotMeasured):
        return gpus
    silent = [gpu for gpu in gpus if isinstance(gpu, NotMeasured)]
    return silent[0] if silent else tuple(gpu.total_bytes for gpu in gpus if isinstance(gpu, Gpu))


class _ForeignProcessIdsError(Exception):
    """The driver has other numbers for processes than this container."""


def _module() -> Any:  # noqa: ANN401
    import pynvml

    return pynvml


def _asked(question: Callable[[], T]) -> T | NotMeasured:
    try:
        return question()
    except Exception as error:  # noqa: BLE001 - NVML's errors have no common class
        let_through(error)
        return NotMeasured(_reason(error))


def _answered(question: Callable[[], T]) -> T | NotMeasured:
    """The same for a driver that may hang."""
    return _asked(lambda: _PATIENCE.answer(question))


def _first_known(newer: Callable[[], T], older: Callable[[], T]) -> T:
    """What an older driver says where it does not know the newer question."""
    try:
        return newer()
    except Exception as error:
        let_through(error)
        if not _is_too_new(error):
            raise
        return older()


def _reason(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name == "pynvml":
        return NOT_INSTALLED
    if isinstance(error, _ForeignProcessIdsError):
        return _FOREIGN
    if isinstance(error, NoAnswerError):
        return NO_ANSWER
    if type(error).__name__ == "NVMLLibraryMismatchError":
        return _OLDER
    number = getattr(error, "value", 0)
    return _REASONS.get(number) or f"NVML failed: {type(error).__name__}: {error}"


def _is_too_new(error: Exception) -> bool:
    is_unknown = getattr(error, "value", None) == _FUNCTION_NOT_FOUND
    return is_unknown or type(error).__name__ == "NVMLLibraryMismatchError"


def _all_exist(pids: Iterable[int]) -> bool:
    return all(Path(f"/proc/{pid}").exists() for pid in pids)


def _told_bytes(used: int | None) -> int | NotMeasured:
    if used is None:
        return NotMeasured(_HIDDEN)
    return used or NotMeasured(_ZERO)


def _text(answer: str | bytes) -> str:
    return answer.decode(errors="replace") if isinstance(answer, bytes) else answer
