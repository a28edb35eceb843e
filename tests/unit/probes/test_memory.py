"""`lowwater.memory()`: the same keys everywhere; None, with the reason, for what is not known."""

import json
import os
import sys
import threading
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

import lowwater
from lowwater.model import NotMeasured
from lowwater.model.devices import Device, DeviceMemory
from lowwater.model.gpus import Gpu, GpuProcess
from lowwater.probes import driver_view, forked, jax_memory, torch_memory
from lowwater.probes import memory as memory_module
from lowwater.probes.cgroup import CgroupProbe
from lowwater.probes.driver_view import views, visible_devices
from lowwater.probes.headroom import limit_bytes
from lowwater.probes.jax_memory import memory_of
from lowwater.probes.nvml import NOT_INSTALLED
from lowwater.probes.tensorflow_memory import pool_bytes

MIB = 1 << 20
GIB = 1 << 30
KEYS = [
    "in_use_bytes", "pool_bytes", "peak_bytes", "limit_bytes", "driver_bytes", "driver_free_bytes",
    "not_measured",
]  # fmt: skip


def a_gpu(index=0, used=0, *, is_mig=False, pid=None, name="A100"):
    processes = (GpuProcess(os.getpid() if pid is None else pid, used),)
    return Gpu(index, name, f"GPU-{index}", 16 * GIB, used, GIB, processes, 0, is_mig)


@pytest.fixture
def no_frameworks(monkeypatch):
    for name in ("tensorflow.python.eager.context", "jax._src.xla_bridge", "torch"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.fixture
def a_driver(monkeypatch, no_frameworks):
    def make(*gpus):
        monkeypatch.setattr(memory_module, "gpus_now", lambda: gpus)

    return make


def test_host_has_all_numbers_and_the_system_for_its_driver(no_frameworks):
    why_no_gpu = "no NVIDIA driver was found" if find_spec("pynvml") else NOT_INSTALLED

    host = lowwater.memory()["host"]

    assert [*host] == KEYS
    assert host["not_measured"] == {"devices": why_no_gpu}
    assert 0 < host["in_use_bytes"] <= host["pool_bytes"]
    assert 0 < host["driver_bytes"] <= host["peak_bytes"] <= host["limit_bytes"]
    assert json.loads(json.dumps(host)) == host


def test_it_answers_in_a_thread_and_in_a_forked_child(no_frameworks):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(lowwater.memory()))
    thread.start()
    thread.join()
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writes, json.dumps(lowwater.memory()).encode())
        os._exit(0)
    os.close(writes)
    with open(reads) as pipe:
        answers.append(json.loads(pipe.read()))
    os.waitpid(child, 0)

    assert [answer["host"]["in_use_bytes"] > 0 for answer in answers] == [True, True]


def test_limit_is_the_lowest_of_the_machine_and_of_all_groups_around(tmp_path):
    def group(folder, limit):
        path = tmp_path / "cgroup" / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "memory.current").write_text("1")
        (path / "memory.max").write_text(limit)

    (tmp_path / "meminfo").write_text("MemTotal:  4096 kB\n")
    (tmp_path / "self").write_text("0::/box/inner\n")
    cgroup = CgroupProbe(tmp_path / "cgroup", str(tmp_path / "self"))
    assert limit_bytes(tmp_path, cgroup) == 4 * MIB
    group("box/inner", str(3 * MIB))
    group("box", str(2 * MIB))
    assert limit_bytes(tmp_path, cgroup) == 2 * MIB
    group("box", "max")
    assert limit_bytes(tmp_path, cgroup) == 3 * MIB


def test_gpus_of_the_driver_are_told_before_a_framework_uses_them(a_driver, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    a_driver(a_gpu(0, 5 * MIB), a_gpu(1, 0, pid=1))

    found = lowwater.memory()

    assert [*found] == ["host", "GPU:0", "GPU:1"]
    assert [*found["GPU:0"]] == KEYS
    assert found["GPU:0"]["driver_bytes"] == 5 * MIB
    assert found["GPU:1"]["driver_bytes"] is None
    assert found["GPU:1"]["not_measured"]["driver_bytes"] == "the driver does not list this process"
    assert found["GPU:1"]["driver_free_bytes"] == GIB


@pytest.mark.parametrize(
    ("visible", "places"),
    [("1", 1), ("1,0", 2), ("", 0), ("-1", 0), ("1,-1,0", 1), ("7", 0), ("GPU-1", 1)],
)
def test_devices_are_those_that_cuda_would_show(monkeypatch, visible, places):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    assert len(visible_devices((a_gpu(0), a_gpu(1)))) == places


def test_devices_on_one_gpu_do_not_have_its_bytes_twice():
    both = [Device("GPU:0", "TensorFlow", 0), Device("GPU:1", "TensorFlow", 0)]

    first, second = views(both, (a_gpu(0, 7 * MIB),))

    assert first == second
    assert first.free_bytes == GIB
    assert first.used_bytes == NotMeasured(
        "several devices are on this GPU, and the driver reports them together"
    )


def test_gpu_divided_by_mig_has_no_numbers():
    [view] = views([Device("GPU:0", "torch", 0)], (a_gpu(0, 7, is_mig=True),))

    assert isinstance(view.used_bytes, NotMeasured)
    assert isinstance(view.free_bytes, NotMeasured)


def test_gpu_that_does_not_answer_says_why():
    lost = NotMeasured("the GPU is lost")

    [view] = views([Device("GPU:0", "torch", 0)], (lost, a_gpu(1)))

    assert view == (lost, lost, lost)


@pytest.mark.parametrize(
    ("limit", "grows", "peak", "driver", "known"),
    [
        (14 * GIB, False, 1, 14 * GIB + 300 * MIB, True),
        (14 * GIB, False, 1, 13 * GIB, False),
        (14 * GIB, False, 0, 14 * GIB, False),
        (14 * GIB, True, 1, 15 * GIB, False),
        (14 * GIB, False, 1, NotMeasured("no"), False),
        # A tenth less and a context of half a gigabyte would be as much.
        (4 * GIB, False, 1, 4 * GIB + MIB, False),
    ],
)
def test_pool_of_tensorflow_is_told_only_where_it_is_certain(limit, grows, peak, driver, known):
    device = Device("GPU:0", "TensorFlow", 0, limit, grows)
    unknown = NotMeasured("not told")

    found = pool_bytes(DeviceMemory(device, 1, unknown, peak, limit), driver)

    assert found == (limit if known else unknown)


class FakeCuda:
    """Not torch: what `torch.cuda` would answer on a machine with one GPU of 10 GiB."""

    def __init__(self, *, is_started=True, is_in_bad_fork=False):
        self._is_started = is_started
        self._is_in_bad_fork = lambda: is_in_bad_fork

    def is_initialized(self):
        return self._is_started

    def __getattr__(self, name):
        assert self._is_started, f"{name} would start CUDA"
        return {
            "device_count": lambda: 1,
            "memory_allocated": lambda number: 3 * MIB,
            "memory_reserved": lambda number: 20 * MIB,
            "max_memory_allocated": lambda number: 9 * MIB,
            "get_device_properties": lambda number: SimpleNamespace(total_memory=10 * GIB),
            "get_per_process_memory_fraction": lambda number: 0.5,
        }[name]


def test_fake_torch_tells_what_its_allocator_has(a_driver, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=FakeCuda()))
    a_driver(a_gpu(0, 500 * MIB))

    found = lowwater.memory()["GPU:0"]

    assert [*found.values()] == [3 * MIB, 20 * MIB, 9 * MIB, 5 * GIB, 500 * MIB, GIB, {}]


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"is_started": False}, "torch has not used a GPU yet"),
        ({"is_in_bad_fork": True}, torch_memory.FORKED),
    ],
)
def test_fake_torch_that_may_not_be_asked_is_not_asked(a_driver, monkeypatch, state, why):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=FakeCuda(**state)))
    a_driver(a_gpu())

    assert lowwater.memory()["GPU:0"]["not_measured"]["in_use_bytes"] == why


def test_two_frameworks_on_one_gpu_keep_their_own_numbers(a_driver, monkeypatch):
    """Not JAX either: a backend with one GPU, as JAX files it."""
    gpu = a_jax_device({"bytes_in_use": 5, "peak_bytes_in_use": 6, "bytes_limit": 7})
    backends = {"cuda": SimpleNamespace(local_devices=lambda: [gpu])}
    monkeypatch.setitem(sys.modules, "jax._src.xla_bridge", SimpleNamespace(_backends=backends))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=FakeCuda()))
    monkeypatch.setattr(jax_memory, "runs_here", lambda: True)
    a_driver(a_gpu(0, 500 * MIB))

    found = lowwater.memory()

    assert [*found] == ["host", "GPU:0", "GPU:0 (torch)"]
    assert found["GPU:0"]["in_use_bytes"] == 5
    assert found["GPU:0"]["not_measured"]["pool_bytes"] == "JAX does not report pool_bytes"
    assert found["GPU:0 (torch)"]["in_use_bytes"] == 3 * MIB
    assert found["GPU:0 (torch)"]["driver_bytes"] is None


def a_jax_device(statistics, platform="gpu"):
    return SimpleNamespace(
        platform=platform, id=0, local_hardware_id=0, memory_stats=lambda: statistics
    )


def test_device_of_jax_without_statistics_says_so():
    told = memory_of(a_jax_device(None))

    why = NotMeasured("JAX reports no memory statistics for this device")
    assert (told.in_use_bytes, told.pool_bytes, told.peak_bytes, told.limit_bytes) == (why,) * 4


def test_threads_of_a_framework_are_known_by_their_names(tmp_path):
    def names(*found):
        for number, name in enumerate(found):
            (tmp_path / str(number)).mkdir(exist_ok=True)
            (tmp_path / str(number) / "comm").write_text(f"{name}\n")
        return forked.runs_here(str(tmp_path))

    assert not names("python", "python")
    assert names("python", "tf_Compute")
    assert not forked.runs_here(str(tmp_path / "nowhere"))


def test_driver_is_not_asked_in_a_fork_of_a_process_that_had_it(monkeypatch):
    monkeypatch.setattr(driver_view, "is_fork", lambda: True)
    monkeypatch.setitem(sys.modules, "pynvml", SimpleNamespace(nvmlLib=object()))

    assert driver_view.gpus_now() == NotMeasured("this process was forked after NVML was loaded")
