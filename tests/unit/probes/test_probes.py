"""Each probe answers a Reading or says why not; never zero for unknown, never an exception."""

import gc
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import (
    HEAP_FREE,
    HEAP_USED,
    MMAP_USED,
    PYTHON_BLOCKS,
    RSS_ANON,
    in_use_bytes,
)
from lowwater.probes import glibc, malloc_probe
from lowwater.probes.cgroup import CgroupProbe
from lowwater.probes.cpython import CPythonProbe
from lowwater.probes.glibc import GlibcProbe
from lowwater.probes.host import HostProbe
from lowwater.probes.jemalloc import JemallocProbe
from lowwater.probes.levels import levels_now
from lowwater.probes.tcmalloc import TcmallocProbe
from lowwater.probes.tensorflow import TensorFlowProbe

MIB = 1 << 20


def test_the_host_probe_splits_resident_memory():
    gauges = HostProbe().read().gauges

    assert gauges[RSS_ANON] > MIB
    assert set(gauges) == {"rss_anon", "rss_file", "rss_shmem"}


def test_a_host_without_proc_is_not_measured(tmp_path):
    assert HostProbe(str(tmp_path / "status")).read() == NotMeasured(
        f"{tmp_path}/status: No such file or directory"
    )


def test_an_old_kernel_without_the_split_is_not_measured(tmp_path):
    (tmp_path / "status").write_text("Name: python\nVmRSS: 100 kB\n")

    assert "does not split" in HostProbe(str(tmp_path / "status")).read().why


def in_use(gauges):
    return gauges[HEAP_USED] + gauges[MMAP_USED]


def test_malloc_counts_what_is_held_and_what_is_kept():
    probe = GlibcProbe()
    before = probe.read().gauges
    held = [bytearray(100_000) for _ in range(500)]
    during = probe.read().gauges
    topmost = held[-1]  # while this one lives, the heap cannot shrink
    del held
    after = probe.read().gauges

    assert len(topmost) == 100_000
    assert in_use(during) - in_use(before) >= 500 * 100_000
    assert in_use(after) - in_use(before) < MIB
    assert after[HEAP_FREE] - during[HEAP_FREE] > 40 * MIB


def test_a_preloaded_malloc_is_not_measured(monkeypatch):
    monkeypatch.setattr(glibc, "malloc_library", lambda: "libmimalloc.so.2")

    answer = GlibcProbe().read()

    assert answer == NotMeasured(
        "malloc comes from libmimalloc.so.2; glibc's statistics do not cover it"
    )


def test_malloc_of_this_process_is_glibcs():
    assert glibc.malloc_library().startswith("libc.so")


def test_readings_leave_nothing_to_collect():
    levels_now()
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            levels_now()

        assert gc.collect() == 0
    finally:
        gc.enable()


def test_jump_of_the_program_itself_is_followed_to_the_library(monkeypatch):
    """A Python that is not position-independent: the address of `malloc` lies in itself."""
    real, asked = glibc._owner, []

    def owner(function):
        asked.append(function)
        return ("/usr/bin/python3", False) if len(asked) == 1 else real(function)

    monkeypatch.setattr(glibc, "_owner", owner)

    assert glibc.malloc_library().startswith("libc.so")
    assert len(asked) > 1


@pytest.mark.skipif(not os.access("/usr/bin/python3", os.X_OK), reason="no Python of the system")
def test_malloc_of_the_systems_python_is_glibcs():
    """Debian's is not position-independent, and it is what `python3` is for most people."""
    # The file alone: that Python may be of another release, without our dependencies.
    program = (
        "import sys, types\n"
        "names = ('', '.model', '.model.gauges', '.model.interruption')\n"
        "for name in ('lowwater' + end for end in names):\n"
        "    sys.modules[name] = module = types.ModuleType(name)\n"
        "    module.__getattr__ = lambda name: type(name, (), {'__init__': lambda *_: None})\n"
        f"exec(open({glibc.__file__!r}).read())\n"
        "print(malloc_library())\n"
    )

    done = subprocess.run(
        ["/usr/bin/python3", "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith("libc.so")


def test_small_objects_are_counted():
    before = CPythonProbe().read().gauges[PYTHON_BLOCKS]
    held = [(i,) for i in range(100_000)]
    after = CPythonProbe().read().gauges[PYTHON_BLOCKS]

    assert after - before >= 100_000
    del held


def test_without_the_small_object_allocator_nothing_is_claimed(monkeypatch):
    monkeypatch.setattr(sys, "getallocatedblocks", lambda: 0)

    assert "PYTHONMALLOC" in CPythonProbe().read().why


def test_tensorflow_is_not_measured_before_it_is_used(monkeypatch):
    monkeypatch.delitem(sys.modules, "tensorflow.python.eager.context", raising=False)

    assert TensorFlowProbe(Malloc()).read() == NotMeasured("the program has not used TensorFlow")


def test_tensorflow_is_not_initialised_by_us(monkeypatch):
    context = SimpleNamespace(_initialized=False)  # anything asked of it would raise
    monkeypatch.setitem(
        sys.modules, "tensorflow.python.eager.context", SimpleNamespace(_context=context)
    )

    assert "has not run an operation" in TensorFlowProbe(Malloc()).read().why


class FakeContext:
    _initialized = True

    def __init__(self, *devices):
        self._logical_devices = [SimpleNamespace(name=f"/device:{name}") for name in devices]
        self.asked = []

    def list_function_names(self):
        return ["f", "g"]

    def get_memory_info(self, device):
        self.asked.append(device)
        if device == "XPU:0":
            raise ValueError("Allocator stats not available")
        return {"current": 10 * MIB, "peak": 30 * MIB}


class Malloc:
    name = "malloc"

    def read(self):
        return Reading({"heap_used": 100 * MIB, "mmap_used": 50 * MIB})


def read_tensorflow(monkeypatch, context, times=1):
    monkeypatch.setitem(
        sys.modules, "tensorflow.python.eager.context", SimpleNamespace(_context=context)
    )
    monkeypatch.delitem(sys.modules, "tensorflow.python.framework.ops", raising=False)
    probe = TensorFlowProbe(Malloc())
    for _ in range(times):
        answer = probe.read()
    return answer


def test_a_host_pool_has_its_use_and_an_estimate_of_its_size(monkeypatch):
    gauges = read_tensorflow(monkeypatch, FakeContext("CPU:0")).gauges

    assert gauges == {"functions": 2, "pool_in_use": 10 * MIB, "pool_size": 30 * MIB}


def test_each_device_has_its_own_gauges(monkeypatch):
    gauges = read_tensorflow(monkeypatch, FakeContext("GPU:0")).gauges

    assert gauges["GPU:0 in use"] == 10 * MIB
    assert in_use_bytes(gauges, "GPU:0") == 10 * MIB
    assert in_use_bytes(gauges) is None


def test_a_device_without_statistics_is_asked_once(monkeypatch):
    context = FakeContext("XPU:0")
    answer = read_tensorflow(monkeypatch, context, times=5)

    assert answer == Reading({"functions": 2})
    assert context.asked == ["XPU:0"]


def cgroup(tmp_path, line, files):
    (tmp_path / "self").write_text(line)
    for name, content in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return CgroupProbe(tmp_path / "root", str(tmp_path / "self")).read()


def test_the_limit_of_a_container_is_read(tmp_path):
    answer = cgroup(
        tmp_path,
        "0::/box\n",
        {
            "box/memory.current": "1000\n",
            "box/memory.max": "4096\n",
            "box/memory.events": "low 0\noom 3\noom_kill 2\n",
        },
    )

    assert answer == Reading({"current": 1000, "limit": 4096, "oom_kills": 2})


def test_no_limit_is_left_out_and_not_infinity(tmp_path):
    answer = cgroup(
        tmp_path, "0::/box\n", {"box/memory.current": "1000", "box/memory.max": "max\n"}
    )

    assert answer == Reading({"current": 1000})


def test_an_old_control_group_is_read_too(tmp_path):
    answer = cgroup(
        tmp_path,
        "4:memory:/box\n",
        {
            "memory/box/memory.usage_in_bytes": "1000",
            "memory/box/memory.limit_in_bytes": "9223372036854771712",
        },
    )

    assert answer == Reading({"current": 1000})


def test_inside_a_container_the_root_is_used(tmp_path):
    answer = cgroup(tmp_path, "0::/not/visible/here\n", {"memory.current": "7"})

    assert answer == Reading({"current": 7})


@pytest.mark.parametrize("line", ["", "0::/\n"])
def test_no_control_group_is_not_measured(tmp_path, line):
    assert cgroup(tmp_path, line, {}) == NotMeasured("no readable memory control group")


class FakeJemalloc:
    """jemalloc's own interface, with made-up numbers; the real one is not to be had by pip."""

    numbers = {b"stats.allocated": 30 * MIB, b"stats.resident": 50 * MIB}  # noqa: RUF012

    def mallctl(self, name, old, _size, _new, _new_size):
        if name not in self.numbers:
            return 0 if name == b"epoch" else 2
        old._obj.value = self.numbers[name]
        return 0


class FakeTcmalloc:
    """tcmalloc's own interface, with made-up numbers."""

    numbers = {  # noqa: RUF012
        b"generic.current_allocated_bytes": 30 * MIB,
        b"generic.heap_size": 60 * MIB,
        b"tcmalloc.pageheap_unmapped_bytes": 10 * MIB,
    }

    def MallocExtension_GetNumericProperty(self, name, value):  # noqa: N802
        value._obj.value = self.numbers.get(name, 0)
        return name in self.numbers


@pytest.mark.parametrize("probe", [JemallocProbe(FakeJemalloc()), TcmallocProbe(FakeTcmalloc())])
def test_a_malloc_that_tells_its_statistics_is_measured(probe):
    gauges = probe.read().gauges

    assert gauges == {HEAP_USED: 30 * MIB, HEAP_FREE: 20 * MIB, MMAP_USED: 0}


@pytest.mark.parametrize("kind", [JemallocProbe, TcmallocProbe])
def test_a_malloc_that_keeps_its_statistics_to_itself_is_not_measured(kind):
    answer = kind(SimpleNamespace(mallctl=lambda *_: 2)).read()

    assert isinstance(answer, NotMeasured)


@pytest.mark.parametrize(
    ("library", "kind"),
    [
        ("libjemalloc.so.2", JemallocProbe),
        ("libtcmalloc_minimal.so.4", TcmallocProbe),
        ("libc.so.6", GlibcProbe),
        ("libmimalloc.so.2", GlibcProbe),
        (None, GlibcProbe),
    ],
)
def test_each_malloc_has_the_probe_that_understands_it(library, kind):
    assert type(malloc_probe(library)) is kind
