import pytest
from click.testing import CliRunner

from lowwater.cli import COMMANDS, cli
from lowwater.model import NotMeasured
from lowwater.model.gpus import Gpu
from lowwater.probes.nvml import Driver

MIB = 1 << 20
NO_DRIVER = NotMeasured("no NVIDIA driver was found")


@pytest.fixture
def gpu(monkeypatch):
    """Runs the command with these answers of the driver."""

    def run(*options, answer=NO_DRIVER):
        monkeypatch.setattr(Driver, "opened", lambda: answer)
        return CliRunner().invoke(cli, ["gpu", *options])

    return run


class FakeDriver(Driver):
    def __init__(self, *free_bytes):
        self._free = free_bytes

    def gpus(self):
        return tuple(
            Gpu(index, "T4", f"GPU-{index}", 1024 * MIB, 1024 * MIB - free, free, (), 0)
            for index, free in enumerate(self._free)
        )

    def close(self):
        self.is_closed = True


def test_gpu_is_a_command():
    assert "gpu" in COMMANDS


def test_without_a_driver_there_is_one_sentence(gpu):
    done = gpu()

    assert (done.exit_code, done.output) == (0, "No GPU to show: no NVIDIA driver was found.\n")


def test_without_a_driver_no_need_is_met(gpu):
    assert gpu("--need", "1 GiB").exit_code == 4


@pytest.mark.parametrize(("need", "code"), [("6 MiB", 0), ("6.1 MiB", 4), ("6291456", 0)])
def test_need_is_an_exit_code(gpu, need, code):
    driver = FakeDriver(1 * MIB, 6 * MIB)

    assert gpu("--need", need, answer=driver).exit_code == code
    assert driver.is_closed


@pytest.mark.parametrize("need", ["", "six", "6 XB", "0", "-1 GiB", "9" * 400, "nan", "inf"])
def test_amount_that_is_none_is_a_usage_error(gpu, need):
    done = gpu("--need", need)

    assert done.exit_code == 2
    assert "Invalid value for '--need'" in done.output


@pytest.mark.parametrize("seconds", ["0", "nan", "inf", "soon", "1e9", ""])
def test_interval_that_is_none_is_a_usage_error(gpu, seconds):
    done = gpu(f"--watch={seconds}")

    assert done.exit_code == 2
    assert "Invalid value for '--watch'" in done.output


def test_need_and_watch_exclude_each_other(gpu):
    done = gpu("--watch", "--need", "1 GiB")

    assert done.exit_code == 2
    assert "--need cannot be combined with --watch" in done.output


def test_negative_interval_is_taken_for_an_option_that_does_not_exist(gpu):
    assert gpu("--watch=-1").exit_code == 2
