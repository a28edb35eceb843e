"""Limits as users write them."""

import pytest

from lowwater.errors import UsageError
from lowwater.isolation.limits import Limits


def test_durations_and_sizes_are_read_as_we_print_them():
    limits = Limits.of(timeout="30 min", memory="8 GiB")

    assert limits == Limits(timeout_s=1800.0, memory_bytes=8 << 30, device_bytes=8 << 30)


def test_plain_numbers_are_seconds_and_bytes():
    assert Limits.of(timeout=2.5, memory=1 << 20).timeout_s == 2.5


def test_device_can_have_a_limit_of_its_own():
    limits = Limits.of(memory="8 GiB", device_memory="2 GiB")

    assert (limits.memory_bytes, limits.device_bytes) == (8 << 30, 2 << 30)


def test_nothing_given_is_no_limit():
    assert Limits.of() == Limits(None, None, None)


@pytest.mark.parametrize("given", ["soon", "-3 s", 0, -1, "0 min", [], float("nan")])
def test_timeout_that_cannot_be_is_refused_with_an_example(given):
    with pytest.raises(UsageError, match=r'`timeout` must be more than 0 .*Try: timeout="30 min"'):
        Limits.of(timeout=given)


@pytest.mark.parametrize("given", ["much", "8 GiBs", 0, "-1 MiB"])
def test_memory_that_cannot_be_is_refused_with_an_example(given):
    with pytest.raises(UsageError, match="`memory` must be more than 0"):
        Limits.of(memory=given)
