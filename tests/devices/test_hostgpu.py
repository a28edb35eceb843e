"""The GPU that is only host memory behaves as the tests of devices need it to."""

import json
import os
import re
import subprocess

import pytest

from hostgpu.build import ZIG, build, compiler_at_hand
from hostgpu.programs import LEFT_TO_OTHERS, WITH_TENSORFLOW, first_answer

pytestmark = pytest.mark.devices

MIB = 1 << 20

TRAINS = (
    WITH_TENSORFLOW
    + """\
import gc
import keras
grow()
take(4)
levels = [in_use()]
model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(1024), keras.layers.Dense(1)])
model.compile("adam", "mse", jit_compile=False)
model.fit(tf.ones((64, 256)), tf.ones((64, 1)), epochs=2, verbose=0)
where = model.layers[0].kernel.value.device
levels.append(in_use())
tensor = take(32 * MIB)
levels.append(in_use())
del tensor
gc.collect()
levels.append(in_use())
answer(levels=levels, where=where, used=driver_used(), other=driver_used(1))
"""
)

# Goes on line by line, so that two of them can be there at the same time.
TAKES_AND_WAITS = (
    WITH_TENSORFLOW
    + """\
if GROW:
    grow()
try:
    kept = take(BYTES)
    answer(got="memory", in_use=in_use(), used=driver_used())
except Exception as error:
    answer(got=type(error).__name__, message=str(error), used=driver_used())
sys.stdin.read()
"""
)

OVERFLOWS = (
    WITH_TENSORFLOW
    + """\
grow()
kept = [take(3 * MIB), take(40 * MIB)]
try:
    take(4096 * MIB)
except tf.errors.ResourceExhaustedError:
    answer(in_use=in_use(), used=driver_used())
"""
)


def takes(size, *, grow=False):
    return f"GROW, BYTES = {grow}, {size}\n{TAKES_AND_WAITS}"


def test_devices_appear_in_tensorflow_under_a_name_that_says_what_they_are(hostgpu, programs):
    text = f"{WITH_TENSORFLOW}\nanswer(gpus=[gpu.name for gpu in GPUS], names=[\n"
    text += "    tf.config.experimental.get_device_details(gpu)['device_name'] for gpu in GPUS])"

    answer = programs.run(text, hostgpu(512 * MIB, 600 * MIB).environment())

    assert answer["gpus"] == ["/physical_device:GPU:0", "/physical_device:GPU:1"]
    assert answer["names"] == ["HOSTGPU", "HOSTGPU"]


def test_model_trains_on_the_device_and_bytes_in_use_rise_and_fall(hostgpu, programs):
    answer = programs.run(TRAINS, hostgpu(512 * MIB, 512 * MIB).environment())

    before, trained, with_tensor, without = answer["levels"]
    assert answer["where"].endswith("GPU:0")
    # The weights and Adam's two slots for each.
    assert trained - before >= 3 * 4 * 256 * 1024
    assert with_tensor - trained >= 32 * MIB
    assert without <= trained
    assert answer["used"] >= with_tensor
    assert answer["other"] == 0


@pytest.mark.parametrize("context_bytes", [0, 20 * MIB])
def test_pool_and_driver_agree_to_the_byte_but_for_the_context(hostgpu, tmp_path, context_bytes):
    machine = hostgpu(1024 * MIB, context_bytes=context_bytes)
    program = tmp_path / "overflows.py"
    program.write_text(OVERFLOWS)

    done = subprocess.run(
        [ZIG[0], "-P", str(program)],
        env={**machine.environment(), "TF_CPP_MIN_LOG_LEVEL": "0"},
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )

    answer = json.loads(done.stdout)
    # TensorFlow lists the regions of its pool when an allocation fails.
    pool_bytes = sum(map(int, re.findall(r"Next region of size (\d+)", done.stderr)))
    assert 43 * MIB <= answer["in_use"] <= pool_bytes
    assert answer["used"] == pool_bytes + context_bytes


def test_greedy_process_starves_the_second(hostgpu, programs):
    machine = hostgpu(1024 * MIB)
    with programs.start(takes(MIB), machine.environment()) as greedy:
        first = first_answer(greedy)
        with programs.start(takes(400 * MIB), machine.environment()) as late:
            second = first_answer(late)
            late.stdin.close()
        greedy.stdin.close()

    assert first["got"] == "memory"
    assert first["used"] == 1024 * MIB - LEFT_TO_OTHERS
    assert second["got"] == "ResourceExhaustedError"
    assert "OOM when allocating tensor" in second["message"]


def test_with_memory_growth_both_run(hostgpu, programs):
    machine = hostgpu(1024 * MIB)
    with programs.start(takes(MIB, grow=True), machine.environment()) as modest:
        first = first_answer(modest)
        with programs.start(takes(400 * MIB, grow=True), machine.environment()) as late:
            second = first_answer(late)
            late.stdin.close()
        modest.stdin.close()

    assert (first["got"], second["got"]) == ("memory", "memory")
    assert second["used"] >= first["used"] + 400 * MIB


def test_bytes_of_a_killed_process_come_back(hostgpu, programs, driver):
    machine = hostgpu(1024 * MIB)
    with programs.start(takes(MIB), machine.environment()) as greedy:
        first_answer(greedy)
        held = driver(machine)["used"]
        greedy.kill()
    after = driver(machine)["used"]

    with programs.start(takes(400 * MIB), machine.environment()) as late:
        second = first_answer(late)
        late.stdin.close()

    assert held == 1024 * MIB - LEFT_TO_OTHERS
    assert after == 0
    assert second["got"] == "memory"


def test_dead_process_that_nobody_waited_for_holds_nothing(hostgpu, driver):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB) as neighbour:
        held = driver(machine)["used"]
        neighbour.kill()
        os.waitid(os.P_PID, neighbour.pid, os.WEXITED | os.WNOWAIT)
        after = driver(machine)["used"]

    assert (held, after) == (100 * MIB, 0)


def test_neighbour_is_refused_what_is_not_there(hostgpu):
    machine = hostgpu(512 * MIB)
    with (
        machine.neighbour(0, 400 * MIB),
        pytest.raises(AssertionError, match="refused"),
        machine.neighbour(0, 200 * MIB),
    ):
        pass


def test_one_failed_allocation_makes_the_pool_smaller(hostgpu, programs):
    environment = hostgpu(1024 * MIB).environment(fail_at=1)
    with programs.start(takes(MIB), environment) as process:
        answer = first_answer(process)
        process.stdin.close()

    assert answer["got"] == "memory"
    # TensorFlow asks again, for a tenth less.
    assert answer["used"] == pytest.approx(0.9 * (1024 * MIB - LEFT_TO_OTHERS), abs=1024)


@pytest.mark.parametrize("fault", [{"fail_from": 2}, {"fail_above": 8 * MIB}])
def test_allocations_that_shall_fail_exhaust_the_device(hostgpu, programs, fault):
    environment = hostgpu(1024 * MIB).environment(**fault)
    with programs.start(takes(16 * MIB, grow=True), environment) as process:
        answer = first_answer(process)
        process.stdin.close()

    assert answer["got"] == "ResourceExhaustedError"
    # The first request succeeded: it was for a small region.
    assert 0 < answer["used"] <= 8 * MIB


def test_allocation_below_the_limit_for_faults_succeeds(hostgpu, programs):
    environment = hostgpu(1024 * MIB).environment(fail_above=8 * MIB)
    with programs.start(takes(MIB, grow=True), environment) as process:
        answer = first_answer(process)
        process.stdin.close()

    assert answer["got"] == "memory"


def test_without_a_compiler_on_the_machine_the_one_from_the_wheel_is_used(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert compiler_at_hand() == ZIG


def test_compiler_from_the_wheel_builds_it_too(hostgpu, hostgpu_cache, programs):
    machine = hostgpu(512 * MIB, built=build(hostgpu_cache, ZIG))
    with (
        machine.neighbour(0, 100 * MIB),
        programs.start(takes(MIB, grow=True), machine.environment()) as process,
    ):
        answer = first_answer(process)
        process.stdin.close()

    assert answer["got"] == "memory"
    assert answer["used"] > 100 * MIB
