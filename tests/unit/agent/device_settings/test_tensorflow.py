"""What TensorFlow is told. FAKE: the context stands in for TensorFlow's on a GPU of NVIDIA's."""

from types import SimpleNamespace

import pytest

from lowwater.agent.device_settings.tensorflow import TensorFlowSettings
from lowwater.model.device_settings import DeviceSettings

GIB = 1 << 30


class FakeContext:
    """Two GPUs that take limits, unlike the device that the other tests run on."""

    _context_handle = None
    _config = None

    def __init__(self):
        self.gpus = [
            SimpleNamespace(name=f"/physical_device:GPU:{index}", device_type="GPU")
            for index in range(2)
        ]
        self._pluggable_devices = []
        self._virtual_device_map = _ByIdentity()
        self._memory_growth_map = _ByIdentity()

    def list_physical_devices(self, _kind):
        return self.gpus

    def get_memory_growth(self, gpu):
        return self._memory_growth_map.get(gpu)

    def set_memory_growth(self, gpu, enable):
        self._memory_growth_map[gpu] = enable

    def set_logical_device_configuration(self, gpu, parts):
        self._virtual_device_map[gpu] = parts


class _ByIdentity(dict):
    def __setitem__(self, key, value):
        super().__setitem__(id(key), value)

    def __contains__(self, key):
        return super().__contains__(id(key))

    def get(self, key, default=None):
        return super().get(id(key), default)

    def pop(self, key, default=None):
        return super().pop(id(key), default)


@pytest.fixture
def context():
    return FakeContext()


@pytest.fixture
def applied(context):
    def apply(wanted):
        notes = []
        settings = TensorFlowSettings(wanted, notes.append)
        settings._module = SimpleNamespace(
            LogicalDeviceConfiguration=lambda memory_limit: memory_limit
        )
        settings.apply(context)
        return settings, notes

    return apply


def test_limit_is_set_in_mebibytes(context, applied):
    _, notes = applied(DeviceSettings(limit_bytes=2 * GIB))

    assert [*context._virtual_device_map.values()] == [[2048], [2048]]
    assert notes == ["TensorFlow GPU:0: limit of 2.0 GiB", "TensorFlow GPU:1: limit of 2.0 GiB"]


def test_limit_wins_over_growth_and_that_is_said(context, applied):
    _, notes = applied(DeviceSettings(growth=True, limit_bytes=2 * GIB))

    assert not context._memory_growth_map
    assert notes[0] == (
        "TensorFlow GPU:0: limit of 2.0 GiB; memory growth is off, because the limit wins"
    )


def test_growth_is_set_where_there_is_no_limit(context, applied):
    applied(DeviceSettings(growth=True))

    assert [*context._memory_growth_map.values()] == [True, True]


def test_script_that_sets_its_own_finds_nothing_of_ours(context, applied):
    settings, notes = applied(DeviceSettings(limit_bytes=2 * GIB))
    settings._seen("memory growth")(context, context.gpus[0])
    settings.apply(context)

    assert not context._virtual_device_map
    assert "the script set memory growth itself" in notes[-1]


def test_script_that_divides_the_cpu_sets_nothing_of_the_gpus(context, applied):
    settings, notes = applied(DeviceSettings(limit_bytes=2 * GIB))
    settings._seen("logical devices")(context, SimpleNamespace(device_type="CPU"))

    assert context._virtual_device_map
    assert len(notes) == 2
