"""What TensorFlow has set up on its devices, as it is in force."""

import pytest

from hostgpu.programs import WITH_TENSORFLOW

pytestmark = pytest.mark.devices

MIB = 1 << 20
TELLS = """
from dataclasses import asdict
from lowwater.probes.tensorflow_devices import tensorflow_devices
before = len(tensorflow_devices())
take(MIB)
answer(before=before, devices=[asdict(one) for one in tensorflow_devices()])
"""


def told(programs, machine, begin="", **variables):
    environment = {**machine.environment(), **variables}
    return programs.run(f"{WITH_TENSORFLOW}\n{begin}\n{TELLS}", environment)


def test_greedy_device_has_a_limit_and_does_not_grow(hostgpu, programs):
    answer = told(programs, hostgpu(1024 * MIB, 512 * MIB))

    first, second = answer["devices"]
    assert answer["before"] == 0
    assert (first["place"], first["physical"], first["grows"]) == ("GPU:0", 0, False)
    assert (second["place"], second["physical"], second["grows"]) == ("GPU:1", 1, False)
    assert second["limit_bytes"] < first["limit_bytes"] < 1024 * MIB


def test_memory_growth_of_the_program_is_seen(hostgpu, programs):
    [device] = told(programs, hostgpu(512 * MIB), "grow()")["devices"]

    assert device["grows"] is True


@pytest.mark.parametrize(("forced", "grows"), [("true", True), ("false", False)])
def test_environment_stands_above_the_program(hostgpu, programs, forced, grows):
    begin = "grow()" if not grows else ""
    [device] = told(programs, hostgpu(512 * MIB), begin, TF_FORCE_GPU_ALLOW_GROWTH=forced)[
        "devices"
    ]

    assert device["grows"] is grows


def test_device_that_the_program_hides_leaves_the_other_its_own_number(hostgpu, programs):
    begin = "tf.config.set_visible_devices(GPUS[1:], 'GPU')"
    [device] = told(programs, hostgpu(512 * MIB, 512 * MIB), begin)["devices"]

    assert (device["place"], device["physical"]) == ("GPU:0", 1)
