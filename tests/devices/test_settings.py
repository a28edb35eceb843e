"""Memory growth and limits on a GPU made of host memory: in code, and for unmodified scripts."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from hostgpu.programs import LEFT_TO_OTHERS, WITH_TENSORFLOW, first_answer
from how_to import run_page

pytestmark = pytest.mark.devices

MIB = 1 << 20
GREEDY = 1024 * MIB - LEFT_TO_OTHERS
USES = """
kept = take(MIB)
answer(used=driver_used(), devices=str(lowwater.devices()).splitlines())
"""
TAKES = (
    WITH_TENSORFLOW
    + """
try:
    kept = take(int(sys.argv[1]) * MIB)
    answer(got="memory", used=driver_used())
except Exception as error:
    answer(got=type(error).__name__, used=driver_used())
sys.stdin.read()
"""
)


def in_code(programs, machine, settings, before="", **variables):
    text = f"import lowwater\n{before}\n{settings}\n{WITH_TENSORFLOW}\n{USES}"
    return programs.run(text, {**machine.environment(), **variables})


@pytest.fixture
def lowwater_run(programs):
    """What an unmodified script answers under `lowwater run`, and what the report notes."""

    def run(machine, text, *options):
        report, done = programs.watch(text, machine.environment(), *options, "-q")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), report["notes"]

    return run


def command(*options):
    return [sys.executable, "-P", "-m", "lowwater", "run", *options]


@contextmanager
def running(machine, folder, size_mib, *options):
    """A script that takes so much under `lowwater run`, and waits for the end of its input."""
    script = folder / "takes.py"
    script.write_text(TAKES)
    with subprocess.Popen(
        [*command(*options), "-q", str(script), str(size_mib)],
        env=machine.environment(),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield first_answer(process)
        process.stdin.close()


# In code


def test_without_settings_the_first_use_takes_all(hostgpu, programs):
    answer = in_code(programs, hostgpu(1024 * MIB), "")

    assert answer["used"] == GREEDY
    assert answer["devices"][0] == "TensorFlow GPU:0: takes all of 769.0 MiB at its first use"


@pytest.mark.parametrize("before", ["", "import tensorflow", "import keras"])
def test_growth_takes_what_is_needed(hostgpu, programs, before):
    settings = "lowwater.devices(growth=True)"
    answer = in_code(programs, hostgpu(1024 * MIB), settings, before)

    assert MIB <= answer["used"] < GREEDY // 2
    assert answer["devices"][0] == (
        "TensorFlow GPU:0: takes memory as it needs it, up to 769.0 MiB"
    )


def test_growth_holds_for_every_gpu_and_can_be_read_from_tensorflow_at_once(hostgpu, programs):
    text = f"""{WITH_TENSORFLOW}
import lowwater
lowwater.devices(growth=True)
answer(growth=[tf.config.experimental.get_memory_growth(gpu) for gpu in GPUS])
"""
    answer = programs.run(text, hostgpu(512 * MIB, 512 * MIB).environment())

    assert answer == {"growth": [True, True]}


def test_limit_that_tensorflow_ignores_is_not_told_as_in_force(hostgpu, programs):
    answer = in_code(programs, hostgpu(1024 * MIB), "lowwater.devices(memory='300 MiB')")

    assert answer["used"] == GREEDY
    assert answer["devices"][0] == (
        "TensorFlow GPU:0: takes all of 769.0 MiB at its first use; "
        "the limit of 300.0 MiB is not in force"
    )


def test_where_a_limit_is_ignored_growth_is_set_if_that_was_wanted_too(hostgpu, programs):
    settings = "told = str(lowwater.devices(growth=True, memory='300 MiB')); import tensorflow"
    answer = in_code(programs, hostgpu(1024 * MIB), settings)

    assert answer["used"] < GREEDY // 2
    assert answer["devices"][0].startswith("TensorFlow GPU:0: takes memory as it needs it")


def test_limit_beyond_the_device_is_said(hostgpu, programs):
    answer = in_code(programs, hostgpu(1024 * MIB), "lowwater.devices(memory='4 GiB')")

    assert answer["devices"][-1] == (
        "GPU 0 has only 1.0 GiB: a limit of 4.0 GiB changes nothing there"
    )


def test_environment_that_stands_above_growth_is_told(hostgpu, programs):
    text = f"""{WITH_TENSORFLOW}
import lowwater
before = lowwater.devices(growth=True).lines[0]
kept = take(MIB)
answer(before=before, after=lowwater.devices().lines[0], used=driver_used())
"""
    environment = {
        **hostgpu(1024 * MIB).environment(), "TF_FORCE_GPU_ALLOW_GROWTH": "false"
    }  # fmt: skip
    answer = programs.run(text, environment)

    assert answer["used"] == GREEDY
    assert answer["before"] == (
        "TensorFlow GPU:0: TF_FORCE_GPU_ALLOW_GROWTH=false overrides the setting of memory growth"
    )
    assert answer["after"] == "TensorFlow GPU:0: takes all of 769.0 MiB at its first use"


def test_gpus_can_still_be_hidden_after_the_settings_and_the_import(hostgpu, programs):
    text = f"""
import lowwater
lowwater.devices(growth=True)
{WITH_TENSORFLOW}
tf.config.set_visible_devices(GPUS[1:], "GPU")
kept = take(MIB)
answer(used=[driver_used(0), driver_used(1)])
"""
    [first, second] = programs.run(text, hostgpu(512 * MIB, 512 * MIB).environment())["used"]

    assert first == 0
    assert second >= MIB


def test_machine_without_a_gpu_is_never_too_late(programs, hostgpu):
    text = f"""{WITH_TENSORFLOW}
import lowwater
tf.zeros(1)
answer(told=lowwater.devices(growth=True).lines[0])
"""
    environment = hostgpu(512 * MIB).environment()
    del environment["TF_PLUGGABLE_DEVICE_LIBRARY_PATH"]

    assert programs.run(text, environment) == {"told": "TensorFlow: no GPU found"}


# Too late

LATE = (
    WITH_TENSORFLOW
    + """
import lowwater
def build():
    return take(MIB)
kept = build()
try:
    lowwater.devices(growth=True)
except lowwater.errors.UsageError as error:
    answer(error=str(error))
"""
)


def test_too_late_in_code_says_where_the_call_belongs(hostgpu, programs):
    text = LATE.replace("import lowwater\n", "import lowwater.errors\n")
    answer = programs.run(text, hostgpu(512 * MIB).environment())

    assert answer["error"] == (
        "TensorFlow set up its GPUs, so their memory settings can no longer be changed "
        "(received: lowwater.devices() after the first operation). "
        "Try: call lowwater.devices() at the top of the script, before the first tensor; "
        "`lowwater run` shows which line that is"
    )


def test_too_late_under_watch_names_the_line_that_used_a_device_first(hostgpu, lowwater_run):
    text = LATE.replace("import lowwater\n", "import lowwater.errors\n")
    # To name a device sets all of them up, before the tensor is made.
    line = text[: text.index("with tf.device")].count("\n") + 1
    answer, _ = lowwater_run(hostgpu(512 * MIB), text)

    assert f"TensorFlow set up its GPUs at train.py:{line}, so" in answer["error"]


def test_same_settings_again_are_not_too_late(hostgpu, programs):
    settings = "lowwater.devices(growth=True)"
    text = f"import lowwater\n{settings}\n{WITH_TENSORFLOW}\nkept = take(MIB)\n{settings}\n{USES}"
    answer = programs.run(text, hostgpu(1024 * MIB).environment())

    assert answer["used"] < GREEDY // 2


# For an unmodified script

PLAIN = f"{WITH_TENSORFLOW}\nkept = take(MIB)\nanswer(used=driver_used())\n"


def test_unmodified_script_is_greedy_without_the_option(hostgpu, lowwater_run):
    answer, notes = lowwater_run(hostgpu(1024 * MIB), PLAIN)

    assert answer["used"] == GREEDY
    assert not notes


def test_unmodified_script_grows_with_the_option_and_the_report_notes_it(hostgpu, lowwater_run):
    answer, notes = lowwater_run(hostgpu(1024 * MIB), PLAIN, "--gpu-memory-growth")

    assert answer["used"] < GREEDY // 2
    assert notes == ["TensorFlow GPU:0: takes memory as it needs it"]


def test_ignored_limit_and_one_beyond_the_device_are_noted(hostgpu, lowwater_run):
    _, notes = lowwater_run(hostgpu(1024 * MIB), PLAIN, "--gpu-memory", "4 GiB")

    assert notes == [
        "GPU 0 has only 1.0 GiB: a limit of 4.0 GiB changes nothing there",
        "TensorFlow GPU:0: no limit, because TensorFlow ignores limits on pluggable devices",
    ]


def test_second_greedy_script_fails_and_with_growth_both_run(hostgpu, tmp_path):
    machine = hostgpu(1024 * MIB)
    with running(machine, tmp_path, 1) as first, running(machine, tmp_path, 300) as second:
        greedy = [first["got"], second["got"]]
    options = ["--gpu-memory-growth"]
    with (
        running(machine, tmp_path, 1, *options) as first,
        running(machine, tmp_path, 300, *options) as late,
    ):
        modest = [first["got"], late["got"]]

    assert greedy == ["memory", "ResourceExhaustedError"]
    assert modest == ["memory", "memory"]


# The script sets its own

OWN = {
    "growth off": "tf.config.experimental.set_memory_growth(GPUS[0], False)",
    "growth on": "tf.config.experimental.set_memory_growth(GPUS[0], True)",
    "two devices": (
        "tf.config.set_logical_device_configuration(GPUS[0], "
        "[tf.config.LogicalDeviceConfiguration(memory_limit=100)])"
    ),
}
OPTIONS = [["--gpu-memory-growth"], ["--gpu-memory", "300 MiB"]]


@pytest.mark.parametrize("options", OPTIONS, ids=["growth", "limit"])
@pytest.mark.parametrize("own", OWN)
def test_script_that_sets_its_own_runs_as_without_us(hostgpu, lowwater_run, own, options):
    text = f"{WITH_TENSORFLOW}\n{OWN[own]}\nkept = take(MIB)\nanswer(used=driver_used())\n"
    line = text[: text.index(OWN[own])].count("\n") + 1

    plain, _ = lowwater_run(hostgpu(1024 * MIB), text)
    answer, notes = lowwater_run(hostgpu(1024 * MIB), text, *options)

    what = "logical devices" if own == "two devices" else "memory growth"
    assert answer == plain
    assert notes == [
        f"TensorFlow: the script set {what} itself (train.py:{line}), and its setting is used"
    ]


def test_script_that_sets_growth_too_late_gets_the_error_that_it_expects(hostgpu, lowwater_run):
    text = f"""{WITH_TENSORFLOW}
kept = take(MIB)
try:
    tf.config.experimental.set_memory_growth(GPUS[0], True)
except RuntimeError as error:
    answer(error=str(error))
"""
    answer, _ = lowwater_run(hostgpu(1024 * MIB), text, "--gpu-memory", "300 MiB")

    assert answer["error"] == "Physical devices cannot be modified after being initialized"


# JAX: the real one reads the variables; there is no GPU that it could use

JAX_READS = """
import json, os, sys
import lowwater
from lowwater.agent import device_settings
from lowwater.model.device_settings import DeviceSettings
device_settings.start(DeviceSettings(True, 1 << 30, (4 << 30,)), lambda note: None)
assert "jax" not in sys.modules
import jax
from jaxlib import xla_client
{own}
options = xla_client.generate_pjrt_gpu_plugin_options()
print(json.dumps([options["preallocate"], options["memory_fraction"]]))
"""


@pytest.mark.parametrize(
    ("own", "read"),
    [
        ("", [False, 0.25]),
        ("os.environ['XLA_PYTHON_CLIENT_MEM_FRACTION'] = '0.5'", [False, 0.5]),
        # Without us there is one name; with ours beside it JAX would refuse both.
        ("os.environ['XLA_CLIENT_MEM_FRACTION'] = '0.5'", [False, 0.5]),
    ],
    ids=["ours", "same name", "newer name"],
)
@pytest.mark.usefixtures("with_jax")
def test_jax_reads_what_was_set_unless_the_script_sets_its_own(programs, own, read):
    assert programs.run(JAX_READS.format(own=own), {**os.environ}) == read


def test_page_about_sharing_a_gpu_runs_as_written(hostgpu, tmp_path, monkeypatch):
    for name, value in hostgpu(1024 * MIB).environment().items():
        monkeypatch.setenv(name, value)
    shown = run_page("share-a-gpu.md", tmp_path).splitlines()

    assert shown[0] == "TensorFlow: not imported yet"
    assert "TensorFlow GPU:0: takes memory as it needs it, up to 769.0 MiB" in shown


def test_doctor_tells_the_driver_and_its_gpus(hostgpu, programs):
    text = "import json\nfrom lowwater.cli._doctor import examine\n"
    text += "print(json.dumps(examine().sections['frameworks']['nvml']))"
    told = programs.run(text, hostgpu(1024 * MIB).environment())

    assert told.startswith("driver ")
    assert "0 B of 1.0 GiB in use" in told
