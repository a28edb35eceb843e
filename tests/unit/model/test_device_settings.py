"""What a user may want of the GPUs, as it is written."""

import pytest

from lowwater.errors import UsageError
from lowwater.model.device_settings import DeviceSettings

GIB = 1 << 30


@pytest.mark.parametrize("memory", ["4 GiB", 4 * GIB, float(4 * GIB)])
def test_limit_is_read_as_we_print_it_or_in_bytes(memory):
    assert DeviceSettings.of(None, memory).limit_bytes == 4 * GIB


@pytest.mark.parametrize(
    "memory", ["lots", "", "0", 0, "-1 GiB", -5, float("nan"), float("inf"), True, []]
)
def test_amount_that_cannot_be_is_refused_with_an_example(memory):
    with pytest.raises(UsageError, match=r'`memory` must be more than 0 .*Try: memory="4 GiB"'):
        DeviceSettings.of(None, memory)


def test_growth_that_is_neither_on_nor_off_is_refused():
    with pytest.raises(UsageError, match="`growth` must be True or False"):
        DeviceSettings.of("yes", None)


def test_share_exceeds_the_limit_on_no_gpu():
    assert DeviceSettings(limit_bytes=2 * GIB, sizes=(4 * GIB, 8 * GIB)).fraction == 0.25


def test_share_is_unknown_without_sizes():
    assert DeviceSettings(limit_bytes=2 * GIB, no_sizes="no driver").fraction is None


def test_limit_beyond_a_gpu_is_said_of_that_gpu_only():
    [told] = DeviceSettings(limit_bytes=6 * GIB, sizes=(4 * GIB, 8 * GIB)).warnings

    assert told == "GPU 0 has only 4.0 GiB: a limit of 6.0 GiB changes nothing there"


def test_settings_come_back_from_plain_data():
    wanted = DeviceSettings(True, 4 * GIB, [8 * GIB], "")

    assert DeviceSettings.from_plain(wanted.to_plain()) == wanted
