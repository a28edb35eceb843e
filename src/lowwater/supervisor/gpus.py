"""Looks at the GPUs and the processes on them, and puts both together. Decides nothing itself."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import Glance, Gpus, HeldGpus
from lowwater.model.gpus import Gpu
from lowwater.probes.nvml import Driver
from lowwater.probes.processes import process
from lowwater.report import gpu_holders
from lowwater.verdict.gpu_holders import held

# Between two looks: long enough for a process that works to be seen working.
MOMENT_S: Final = 0.5


@contextmanager
def opened_driver() -> Iterator[Driver | NotMeasured]:
    """The driver, or the reason why there is none."""
    driver = Driver.opened()
    try:
        yield driver
    finally:
        if isinstance(driver, Driver):
            driver.close()


def glance(driver: Driver | NotMeasured) -> Glance:
    """What the driver and the system say now."""
    gpus = driver if isinstance(driver, NotMeasured) else driver.gpus()
    return Glance(time.monotonic(), gpus, {pid: process(pid) for pid in sorted(_pids(gpus))})


def looks(driver: Driver | NotMeasured, every_s: float = MOMENT_S) -> Iterator[HeldGpus]:
    """Who holds what, again and again; each look is compared with the one before it."""
    before = glance(driver)
    pause_s = MOMENT_S if _pids(before.gpus) else 0.0
    while True:
        time.sleep(pause_s)
        after = glance(driver)
        yield held(before, after)
        before, pause_s = after, every_s


def who_holds(gpu: Gpu) -> str:
    """A sentence without its capital and its full stop, with what the system says now.

    `process 4711 (python train.py, user ann) holds 7.1 GiB of GPU 0`
    """
    return gpu_holders.who_holds(gpu, {pid: process(pid) for pid in _pids((gpu,))})


def _pids(gpus: Gpus) -> set[int]:
    seen = () if isinstance(gpus, NotMeasured) else gpus
    listed = (one.processes for one in seen if isinstance(one, Gpu))
    return {one.pid for each in listed if not isinstance(each, NotMeasured) for one in each}
