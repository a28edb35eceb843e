"""A limit for torch. FAKE: `torch.cuda` here is a stand-in; no torch and no GPU is involved."""

import sys
from types import SimpleNamespace

import pytest

from lowwater.agent.device_settings.torch import TorchSettings
from lowwater.model.device_settings import DeviceSettings

GIB = 1 << 30


class FakeCuda:
    """Queues calls until CUDA is used, as torch does."""

    def __init__(self, *sizes, broken=False):
        self.sizes, self.broken = sizes, broken
        self.queued, self.set = [], []

    def _lazy_call(self, call):
        self.queued.append(call)

    def use(self):
        for call in self.queued:
            call()

    def device_count(self):
        return len(self.sizes)

    def get_device_properties(self, device):
        if self.broken:
            raise RuntimeError("CUDA error")
        return SimpleNamespace(total_memory=self.sizes[device])

    def set_per_process_memory_fraction(self, fraction, device):
        self.set.append((device, fraction))


@pytest.fixture
def imported(monkeypatch):
    def make(cuda, wanted):
        fake_torch = SimpleNamespace(cuda=cuda)
        monkeypatch.setitem(sys.modules, "torch", fake_torch)
        settings = TorchSettings(wanted, lambda _: None)
        settings.imported(fake_torch)
        return settings

    return make


def test_nothing_is_asked_of_cuda_before_the_program_uses_it(imported):
    cuda = FakeCuda(8 * GIB, broken=True)
    settings = imported(cuda, DeviceSettings(limit_bytes=2 * GIB))

    assert not cuda.set
    assert [*settings.told()] == ["torch: limit of 2.0 GiB, set when the program first uses CUDA"]


def test_limit_is_set_on_every_gpu_as_a_share_of_it(imported):
    cuda = FakeCuda(8 * GIB, 4 * GIB)
    imported(cuda, DeviceSettings(limit_bytes=2 * GIB))
    cuda.use()

    assert cuda.set == [(0, 0.25), (1, 0.5)]


def test_limit_beyond_the_gpu_is_said(imported):
    cuda = FakeCuda(1 * GIB)
    settings = imported(cuda, DeviceSettings(limit_bytes=2 * GIB))
    cuda.use()

    assert [*settings.told()] == [
        "torch cuda:0: limit of 1.0 GiB, all that it has: 2.0 GiB is more"
    ]


def test_growth_needs_nothing(imported):
    cuda = FakeCuda(8 * GIB)
    settings = imported(cuda, DeviceSettings(growth=True))

    assert not cuda.queued
    assert [*settings.told()] == ["torch: takes memory as it needs it"]


def test_failure_of_ours_is_told_and_never_raised_in_the_program(imported):
    cuda = FakeCuda(8 * GIB, broken=True)
    settings = imported(cuda, DeviceSettings(limit_bytes=2 * GIB))
    cuda.use()

    assert [*settings.told()] == ["torch: no limit: RuntimeError: CUDA error"]
