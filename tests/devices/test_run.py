"""`lowwater run` on a GPU that is only host memory: the ledger and the verdict of the device."""

import time

import pytest

pytestmark = pytest.mark.devices

MIB = 1 << 20
CONTEXT = 96 * MIB
MODELS = """
import os
import keras, numpy as np, tensorflow as tf

if os.environ.get("GROWS"):
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
kept = []
x, y = np.ones((32, 64), "float32"), np.ones((32, 1), "float32")
{begin}
for number in range(14):
    {body}
"""
ONE_MODEL = """model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(1024),
    keras.layers.Dense(1024), keras.layers.Dense(1)])
model.compile("adam", "mse", jit_compile=False)"""
KEEPS = (
    ONE_MODEL.replace("\n", "\n    ")
    + "\n    model.fit(x, y, verbose=0, batch_size=32)\n    kept.append(model)"
)
# The host does nothing worth a word beside it.
FILLS = "batch = tf.zeros(1 << 20)"
TRAINS = "model.fit(x, y, verbose=0, batch_size=32)"


def rows_of(report):
    return {row["name"]: row for row in report["ledger"]["rows"]}


def at_end(rows, name):
    return rows[f"GPU:0 {name}"]["last_bytes"]


def adds_up(rows):
    parts = ("in use", "pool, free for reuse", "driver context and libraries")
    return sum(at_end(rows, name) for name in parts) == at_end(rows, "taken, by the driver")


def test_models_that_are_kept_leak_on_the_device(hostgpu, programs):
    environment = hostgpu(1024 * MIB, context_bytes=CONTEXT).environment()

    report, done = programs.watch(MODELS.format(begin="", body=KEEPS), environment)

    verdict, rows = report["verdict"], rows_of(report)
    assert (verdict["kind"], verdict["place"]) == ("leak", "GPU:0"), done.stdout
    assert report["findings"][0]["code"] == "LW201"
    assert report["findings"][0]["where"] == "train.py:16"
    assert adds_up(rows)
    # Greedy: all of the limit is taken, and the rest is the context to the byte.
    assert at_end(rows, "driver context and libraries") == CONTEXT
    assert "GPU:0 taken, by the driver" in done.stderr + done.stdout


KEEPS_TENSORS = """
import tensorflow as tf

saved = []
for step in range(16):
    with tf.device("GPU:0"):
        features = tf.zeros((1024, 1024))
    saved.append(features)
"""


def test_leak_on_the_device_alone_is_found_with_its_holder_though_the_host_is_flat(
    hostgpu, programs
):
    report, _ = programs.watch(
        KEEPS_TENSORS, hostgpu(1024 * MIB, context_bytes=CONTEXT).environment()
    )

    verdict, rows = report["verdict"], rows_of(report)
    assert (verdict["kind"], verdict["place"]) == ("leak", "GPU:0")
    assert verdict["growth_bytes_per_unit"] == 4 * MIB
    [finding] = [one for one in report["findings"] if one["code"] == "LW102"]
    assert (finding["where"], finding["holder"]) == ("train.py:8", "saved")
    assert finding["share"] > 0.9
    [host] = [row for name, row in rows.items() if name == "in use"]
    assert host["series"][-1] - host["series"][1] < 16 * MIB


KEEPS_ARRAYS = """
import numpy as np
import tensorflow as tf

log = []
for step in range(16):
    with tf.device("GPU:0"):
        features = tf.zeros((1024, 1024))
    log.append(np.ones((512, 1024)))
"""


def test_leak_on_the_host_is_the_hosts_though_the_device_is_in_use(hostgpu, programs):
    report, _ = programs.watch(KEEPS_ARRAYS, hostgpu(1024 * MIB).environment())

    assert (report["verdict"]["kind"], report["verdict"]["place"]) == ("leak", "host")
    assert report["findings"][0]["where"] == "train.py:9"


def test_greedy_pool_that_is_empty_inside_is_reserved(hostgpu, programs):
    machine = hostgpu(1024 * MIB, context_bytes=CONTEXT)
    text = MODELS.format(begin="", body=FILLS)

    with machine.neighbour(0, 50 * MIB):
        report, _ = programs.watch(text, machine.environment())

    verdict, rows = report["verdict"], rows_of(report)
    assert (verdict["kind"], verdict["place"]) == ("reserved", "GPU:0")
    assert "returns it when the process ends" in verdict["because"]
    assert {one["code"] for one in report["findings"]} == {"LW401", "LW405"}
    assert adds_up(rows)
    assert at_end(rows, "taken by other processes") == 50 * MIB + CONTEXT


def test_greedy_pool_that_was_refused_its_limit_is_booked_with_what_it_got(hostgpu, programs):
    """TensorFlow asks again for a tenth less, and does not say so: the driver's count shows it."""
    context = 32 * MIB
    environment = hostgpu(1024 * MIB, context_bytes=context).environment(fail_at=1)

    report, _ = programs.watch(MODELS.format(begin="", body=FILLS), environment)

    rows = rows_of(report)
    assert adds_up(rows)
    # The pool is rounded down to pages of 256 bytes.
    assert abs(at_end(rows, "driver context and libraries") - context) < 1024
    [greedy] = [one for one in report["findings"] if one["code"] == "LW405"]
    # Nine tenths of 737 MiB, which are what TensorFlow does not leave to others.
    assert "took about 663.3 MiB of GPU:0" in greedy["message"]


def test_pool_that_grows_takes_little_and_is_not_greedy(hostgpu, programs):
    machine = hostgpu(1024 * MIB, context_bytes=CONTEXT)
    environment = {**machine.environment(), "GROWS": "1"}

    report, _ = programs.watch(MODELS.format(begin=ONE_MODEL, body=TRAINS), environment)

    rows = rows_of(report)
    assert report["verdict"]["is_leak"] is False
    assert "LW405" not in {one["code"] for one in report["findings"]}
    assert adds_up(rows)
    assert at_end(rows, "taken, by the driver") < CONTEXT + 128 * MIB
    assert rows["GPU:0 pool, free for reuse"]["is_estimate"]


UNTOLD = {
    "no-permission": {"GPU 0 by process": "the driver does not permit it"},
    "no-processes": {
        "GPU:0 at the driver": (
            "the driver does not list this program; in a container it may hide it"
        )
    },
    "driver-not-loaded": {"driver": "the NVIDIA driver is not loaded"},
    "mig": {
        "GPU:0 at the driver": (
            "the GPU is divided into MIG instances, and the driver counts all of them"
        )
    },
}


@pytest.mark.parametrize("fault", UNTOLD)
def test_driver_that_does_not_tell_leaves_the_rows_out_and_says_why(hostgpu, programs, fault):
    environment = hostgpu(1024 * MIB).environment(nvml_faults=[fault])

    report, _ = programs.watch(MODELS.format(begin=ONE_MODEL, body=TRAINS), environment)

    assert "GPU:0 taken, by the driver" not in rows_of(report)
    assert "GPU:0 in use" in rows_of(report)
    assert UNTOLD[fault].items() <= report["ledger"]["unmeasured"].items()


def test_gpu_that_is_lost_in_the_middle_is_told_and_the_run_goes_on(hostgpu, programs):
    environment = hostgpu(1024 * MIB).environment(nvml_lost_after=60)

    report, done = programs.watch(MODELS.format(begin=ONE_MODEL, body=TRAINS), environment)

    assert done.returncode == 0
    reasons = [*report["ledger"]["unmeasured"].values()]
    assert reasons.count("the GPU is lost: the driver no longer reaches it") == 1


ASKS_ITSELF = """
import lowwater

why = [lowwater.memory()["host"]["not_measured"]["devices"] for _ in range(2)]
print(why)
"""


def test_driver_that_hangs_holds_up_neither_the_run_nor_the_program(hostgpu, programs, tmp_path):
    sign = tmp_path / "stuck"
    sign.touch()
    environment = hostgpu(1024 * MIB).environment(nvml_stuck_if=sign)

    _, done = programs.watch(ASKS_ITSELF, environment)

    assert done.returncode == 0
    assert done.stdout == f"{['the NVIDIA driver did not answer within 10 s'] * 2}\n"


def test_gpu_that_others_hold_is_told_before_the_program_trains(hostgpu, programs):
    machine = hostgpu(1024 * MIB, 512 * MIB)

    with machine.neighbour(0, 900 * MIB) as neighbour:
        report, done = programs.watch("print('trains')", machine.environment())

    told = "GPU 0 had 124.0 MiB of 1.0 GiB free before the program started: process"
    assert f"{told} {neighbour.pid}" in done.stderr
    assert "holds 900.0 MiB of GPU 0" in done.stderr
    assert "GPU 1" not in done.stderr
    assert any(str(neighbour.pid) in note for note in report["notes"])


# Of one look: the count, and of each GPU its handle, name, UUID, memory, both lists of processes,
# utilization and MIG.
MOST_ANSWERS = 12
LOOK_EVERY_S = 0.5
MANY_ROUNDS = """
import lowwater
import tensorflow as tf

with tf.device("GPU:0"):
    kept = tf.zeros(1 << 20)
for number in range(3000):
    lowwater.boundary("step")
"""


def test_driver_is_asked_twice_a_second_and_never_more_for_more_rounds(hostgpu, programs, tmp_path):
    count = tmp_path / "answers"
    environment = hostgpu(1024 * MIB).environment(nvml_count=count)
    began = time.monotonic()

    report, _ = programs.watch(MANY_ROUNDS, environment)

    elapsed_s = time.monotonic() - began
    assert max(unit["verdict"]["units_seen"] for unit in report["units"]) > 2000
    answers = count.stat().st_size
    assert 2 * MOST_ANSWERS / 2 <= answers <= MOST_ANSWERS * (elapsed_s / LOOK_EVERY_S + 2)


def test_program_on_the_cpu_is_told_nothing_of_drivers(programs, tmp_path):
    report, _ = programs.watch("for number in range(20):\n    print(number)\n", None)

    assert not any(
        name == "driver" or name.startswith("GPU") for name in report["ledger"]["unmeasured"]
    )
