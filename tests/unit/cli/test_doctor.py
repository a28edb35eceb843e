import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lowwater.cli._doctor import examine
from lowwater.cli._doctor.surroundings import Machine
from lowwater.cli._doctor.text import as_data, as_text
from lowwater.cli.doctor import command
from lowwater.errors import UserError
from lowwater.model import NotMeasured, Reading
from lowwater.model.gpus import Gpu
from lowwater.probes.cgroup import CgroupProbe

GIB = 1 << 30


class FakeProbe:
    def __init__(self, name, answer):
        self.name = name
        self._answer = answer

    def read(self):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.fixture
def machine(tmp_path):
    """A small Linux machine without TensorFlow, GPU, limits or settings, in a folder."""
    (tmp_path / "proc/sys/vm").mkdir(parents=True)
    (tmp_path / "dev").mkdir()
    (tmp_path / "proc/meminfo").write_text(
        "MemTotal:       8388608 kB\nMemFree: 1 kB\nMemAvailable:   4194304 kB\n"
        "SwapTotal:            0 kB\n"
    )
    (tmp_path / "proc/sys/vm/overcommit_memory").write_text("1\n")

    def build(**replaced):
        given = {
            "environ": {},
            "root": tmp_path,
            "home": tmp_path,
            "version_of": {}.get,
            "malloc_library": lambda: "libc.so.6",
            "driver": lambda: NotMeasured("no NVIDIA driver was found"),
            "probes": (),
        }
        return Machine(**(given | replaced))

    build.root = tmp_path
    return build


def section(name, around):
    return examine(around).sections[name]


# Versions


def test_tensorflow_is_found_under_the_name_it_was_installed_by(machine):
    versions = section("versions", machine(version_of={"tensorflow-cpu": "2.19.0"}.get))

    assert versions["tensorflow"] == "2.19.0"


def test_library_that_is_absent_is_not_installed_rather_than_empty(machine, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    assert section("versions", machine())["jax"] == NotMeasured("not installed")


def test_library_without_metadata_is_not_called_absent(machine, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())

    [why] = {section("versions", machine())[name].why for name in ("torch", "keras")}
    assert why == "importable, but installed without package metadata"


def test_examining_imports_no_framework():
    program = (
        "import sys; from lowwater.cli._doctor import examine; examine();"
        "print(*{'tensorflow', 'keras', 'tf_keras', 'jax', 'torch', 'numpy'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "\n"


# Allocator


@pytest.mark.parametrize(
    ("library", "told"),
    [
        ("libc.so.6", "glibc (libc.so.6)"),
        ("libjemalloc.so.2", "jemalloc (libjemalloc.so.2)"),
        ("libtcmalloc_minimal.so.4", "tcmalloc (libtcmalloc_minimal.so.4)"),
        ("ld-musl-x86_64.so.1", "musl (ld-musl-x86_64.so.1)"),
        ("libodd.so", "unknown allocator (libodd.so)"),
        (None, NotMeasured("the dynamic linker does not report where malloc comes from")),
    ],
)
def test_malloc_is_named_by_its_library(machine, library, told):
    assert section("allocator", machine(malloc_library=lambda: library))["malloc"] == told


def test_preloaded_allocator_that_took_effect_is_confirmed(machine):
    around = machine(
        environ={"LD_PRELOAD": "/usr/lib/libjemalloc.so.2"},
        malloc_library=lambda: "libjemalloc.so.2",
    )

    assert section("allocator", around)["LD_PRELOAD"] == "/usr/lib/libjemalloc.so.2 (took effect)"


def test_preloaded_allocator_without_effect_is_told(machine):
    around = machine(environ={"LD_PRELOAD": "/nowhere/libjemalloc.so.2"})

    assert section("allocator", around)["LD_PRELOAD"] == (
        "/nowhere/libjemalloc.so.2 (did not take effect: malloc comes from libc.so.6)"
    )


def test_preload_that_is_no_allocator_is_shown_as_it_is(machine):
    around = machine(environ={"LD_PRELOAD": "libfaketime.so"})

    assert section("allocator", around)["LD_PRELOAD"] == "libfaketime.so"


def test_only_settings_of_malloc_are_shown(machine):
    environ = {"MALLOC_ARENA_MAX": "2", "PYTHONMALLOC": "malloc", "AWS_SECRET": "hush"}

    told = section("allocator", machine(environ=environ))["settings"]

    assert told == "MALLOC_ARENA_MAX=2, PYTHONMALLOC=malloc"


# Frameworks


def test_environment_chooses_the_backend_before_the_file(machine):
    (machine.root / ".keras").mkdir()
    (machine.root / ".keras/keras.json").write_text('{"backend": "torch"}')

    from_file = section("frameworks", machine())["backend"]
    from_environment = section("frameworks", machine(environ={"KERAS_BACKEND": "jax"}))["backend"]

    assert from_file == f"torch ({machine.root}/.keras/keras.json)"
    assert from_environment == "jax (KERAS_BACKEND)"


@pytest.mark.parametrize("garbled", ["", "{", "[]", "null", '{"floatx": "float32"}'])
def test_garbled_keras_file_leaves_the_default_backend(machine, garbled):
    (machine.root / "keras.json").write_text(garbled)
    around = machine(environ={"KERAS_HOME": str(machine.root)})

    assert section("frameworks", around)["backend"] == "tensorflow (the default)"


def test_gpu_is_seen_by_its_device_file(machine):
    without = section("frameworks", machine())["gpus"]
    for name in ("nvidia0", "nvidia1", "nvidiactl"):
        (machine.root / "dev" / name).touch()
    with_two = section("frameworks", machine())["gpus"]

    assert without == NotMeasured("no device file of a GPU here")
    assert with_two == "nvidia0, nvidia1"


class FakeDriver:
    def __init__(self, *gpus):
        self._gpus = gpus
        self.is_closed = False

    def version(self):
        return "550.1"

    def gpus(self):
        return self._gpus

    def close(self):
        self.is_closed = True


def test_driver_tells_its_version_and_gpus_and_is_closed_again(machine):
    first = Gpu(0, "FAKE", "GPU-0", 8 * GIB, GIB, 7 * GIB, (), 0)
    driver = FakeDriver(first, NotMeasured("the GPU must be reset"))

    told = section("frameworks", machine(driver=lambda: driver))["nvml"]

    assert told == (
        "driver 550.1; GPU 0: FAKE, 1.0 GiB of 8.0 GiB in use; GPU 1: the GPU must be reset"
    )
    assert driver.is_closed


def test_absent_driver_is_told_with_its_reason(machine):
    assert section("frameworks", machine())["nvml"] == NotMeasured("no NVIDIA driver was found")


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({}, "not set: programs see all GPUs"),
        ({"CUDA_VISIBLE_DEVICES": "1"}, "1"),
        ({"CUDA_VISIBLE_DEVICES": ""}, "empty: programs see no GPU"),
    ],
)
def test_hidden_gpus_are_told(machine, environ, told):
    assert section("frameworks", machine(environ=environ))["CUDA_VISIBLE_DEVICES"] == told


def test_setting_that_is_absent_says_what_happens_without_it(machine):
    unset = section("frameworks", machine())
    setting = section("frameworks", machine(environ={"TF_GPU_ALLOCATOR": "cuda_malloc_async"}))

    assert unset["TF_GPU_ALLOCATOR"] == "not set: TensorFlow's own pool (BFC)"
    assert setting["TF_GPU_ALLOCATOR"] == "cuda_malloc_async"


@pytest.mark.parametrize(
    ("environ", "flags", "answer"),
    [
        ({}, "fpu avx2 avx512_vnni", "TensorFlow's pool for 256 KiB or more"),
        ({}, "fpu avx2", "malloc, unless TF_ENABLE_ONEDNN_OPTS=1"),
        ({"TF_ENABLE_ONEDNN_OPTS": "0"}, "avx512_vnni", "malloc (TF_ENABLE_ONEDNN_OPTS"),
        ({"TF_CPU_ALLOCATOR_USE_BFC": "1"}, "fpu", "TensorFlow's pool (TF_CPU_ALLOCATOR_USE_BFC)"),
    ],
)
def test_who_allocates_host_tensors_depends_on_the_processor(machine, environ, flags, answer):
    (machine.root / "proc/cpuinfo").write_text(f"flags\t\t: {flags}\n")

    assert section("frameworks", machine(environ=environ))["host tensors"].startswith(answer)


def test_an_unknown_processor_is_not_guessed_at(machine):
    assert isinstance(section("frameworks", machine())["host tensors"], NotMeasured)


# Limits


def test_memory_is_told_in_bytes(machine):
    limits = section("limits", machine())

    assert limits["ram_bytes"] == 8 * GIB
    assert limits["available_bytes"] == 4 * GIB
    assert limits["swap_bytes"] == 0
    assert limits["overcommit"].startswith("always (1)")


def test_limit_of_the_container_comes_from_its_control_group(machine):
    group = machine.root / "sys/fs/cgroup/job"
    group.mkdir(parents=True)
    (group / "memory.max").write_text(f"{2 * GIB}\n")
    (group / "memory.current").write_text(f"{GIB}\n")
    (machine.root / "own").write_text("0::/job\n")
    probe = CgroupProbe(machine.root / "sys/fs/cgroup", str(machine.root / "own"))

    limits = section("limits", machine(probes=(probe,)))

    assert limits["cgroup_limit_bytes"] == 2 * GIB
    assert limits["cgroup_current_bytes"] == GIB


def test_container_without_a_limit_has_none_rather_than_zero(machine):
    probe = FakeProbe("cgroup", Reading({"current": GIB}))

    assert section("limits", machine(probes=(probe,)))["cgroup_limit_bytes"] == "none"


def test_limit_of_the_address_space_is_that_of_this_process(machine):
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    expected = "none" if soft == resource.RLIM_INFINITY else soft

    assert section("limits", machine())["address_space_limit_bytes"] == expected


# Known leaks


def test_affected_release_is_told_with_its_version(machine):
    found = examine(machine(version_of={"tensorflow": "2.21.0"}.get)).known_leaks

    assert [(leak.code, version) for leak, version in found] == [
        ("LW205", "2.21.0"),
        ("LW209", "2.21.0"),
        ("LW304", "2.21.0"),
        ("LW211", "2.21.0"),
        ("LW210", "2.21.0"),
        ("LW305", "2.21.0"),
        ("LW214", "2.21.0"),
    ]


def test_release_before_the_first_report_is_not_accused(machine):
    found = examine(machine(version_of={"tensorflow": "2.9.2"}.get)).known_leaks

    assert {leak.code for leak, _ in found}.isdisjoint({"LW205", "LW210", "LW211"})


def test_leaks_of_keras_go_by_its_own_version(machine):
    found = examine(machine(version_of={"keras": "3.15.1"}.get)).known_leaks

    assert [leak.code for leak, _ in found] == ["LW212", "LW213"]


def test_machine_without_tensorflow_has_no_leak_of_it(machine, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    checkup = examine(machine())

    assert checkup.known_leaks == ()
    assert "Known library leaks in the installed versions\n  none known\n" in as_text(checkup)


# What cannot be measured


def test_foreign_malloc_is_told_as_what_the_ledger_lacks(machine):
    probes = (
        FakeProbe("malloc", NotMeasured("malloc comes from libjemalloc.so.2")),
        FakeProbe("host", Reading({"rss_anon": 1})),
    )

    unmeasured = examine(machine(probes=probes)).unmeasured

    assert unmeasured["bytes in use in malloc's heap"] == "malloc comes from libjemalloc.so.2"
    assert "resident memory by kind" not in unmeasured


def test_gpu_memory_is_never_promised(machine):
    """What the driver answers counts: in some containers there are no device files."""
    gpu = Gpu(0, "FAKE", "GPU-0", 8 * GIB, GIB, 7 * GIB, (), 0)
    without = examine(machine()).unmeasured
    with_gpu = examine(machine(driver=lambda: FakeDriver(gpu))).unmeasured

    assert without["GPU memory as the driver reports it"] == "no NVIDIA driver was found"
    assert "GPU memory as the driver reports it" not in with_gpu
    assert "not on real hardware" in with_gpu["how exact the numbers of a GPU are"]


def test_other_backend_is_told_as_not_read(machine):
    unmeasured = examine(machine(environ={"KERAS_BACKEND": "torch"})).unmeasured

    assert unmeasured["the allocator of torch"] == "this release reads only TensorFlow's"


# Failures


def test_machine_without_proc_gives_reasons_and_no_exception(machine, tmp_path):
    limits = section("limits", machine(root=tmp_path / "nowhere"))

    assert limits["ram_bytes"].why.endswith("proc/meminfo: No such file or directory")
    assert limits["overcommit"].why.endswith("overcommit_memory: No such file or directory")


def test_every_source_that_breaks_gives_its_reason(machine):
    def broken(*_):
        raise RuntimeError("out of order")

    checkup = examine(
        machine(
            version_of=broken,
            malloc_library=broken,
            probes=(FakeProbe("host", RuntimeError("out of order")),),
        )
    )

    reason = NotMeasured("RuntimeError: out of order")
    assert checkup.sections["versions"]["tensorflow"] == reason
    assert checkup.sections["allocator"]["malloc"] == reason
    assert checkup.unmeasured["resident memory by kind"] == "RuntimeError: out of order"


# Telling


def test_text_is_the_whole_checkup_for_people(machine):
    text = as_text(examine(machine(version_of={"tensorflow": "2.21.0"}.get)))

    assert "  ram                  8.0 GiB\n" in text
    assert "  LW205 gradient-registry: tensorflow 2.21.0\n" in text
    assert "What cannot be measured here\n" in text
    assert max(map(len, text.splitlines())) <= 96


def test_json_keeps_bytes_and_reasons_apart(machine):
    data = json.loads(json.dumps(as_data(examine(machine()))))

    assert data["schema"] == "lowwater.doctor/1"
    assert data["limits"]["ram_bytes"] == 8 * GIB
    assert data["frameworks"]["gpus"] == {"not_measured": "no device file of a GPU here"}
    assert data["unmeasured"]["GPU memory as the driver reports it"] == (
        "no NVIDIA driver was found"
    )


def test_command_prints_text():
    done = CliRunner().invoke(command)

    assert done.exit_code == 0
    assert done.output.startswith("Versions\n  python ")


def test_command_prints_json_when_no_file_is_named():
    done = CliRunner().invoke(command, ["--json"])

    assert json.loads(done.output)["schema"] == "lowwater.doctor/1"


def test_command_writes_json_to_the_named_file(tmp_path):
    file = tmp_path / "doctor.json"

    done = CliRunner().invoke(command, ["--json", str(file)])

    assert done.output == ""
    assert json.loads(file.read_text())["schema"] == "lowwater.doctor/1"


def test_file_that_cannot_be_written_is_an_error_for_the_user(tmp_path):
    done = CliRunner().invoke(command, ["--json", str(tmp_path / "absent" / "doctor.json")])

    assert isinstance(done.exception, UserError)
    assert "No such file or directory" in str(done.exception)


def test_home_that_is_unknown_is_no_obstacle(monkeypatch):
    monkeypatch.delenv("HOME", raising=False)

    assert isinstance(Machine().home, Path)
