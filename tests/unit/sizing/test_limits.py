"""What the user writes as a limit, or what the machine has."""

import pytest

from footprints import FIXED, a_line, steps
from lowwater.errors import UsageError
from lowwater.model.footprint import StepsFound
from lowwater.sizing import limits
from lowwater.sizing.subject import check_batch_size, parsed_batch_size

GIB = 1 << 30
FOUND = StepsFound("CPU:0", FIXED, steps(a_line), beside_bytes=GIB)


@pytest.mark.parametrize(
    ("given", "size"),
    [("8 GiB", 8 * GIB), (8 * GIB, 8 * GIB), ("200MB", 200 * 10**6), (None, None)],
)
def test_limit_is_read(given, size):
    assert limits.given_limit(given) == size


@pytest.mark.parametrize(
    "given", ["abc", -3, 0, "0", "-1 GiB", "", "nan", "1e400", True, [], "8 XB"]
)
def test_nonsense_is_one_sentence(given):
    with pytest.raises(UsageError) as refused:
        limits.given_limit(given)

    assert str(refused.value) == (
        f'`limit` must be more than 0 (received: {given!r}). Try: limit="8 GiB"'
    )


@pytest.mark.parametrize("given", [0, -1, 2.5, "64", True, None])
def test_nonsense_as_a_batch_size_is_one_sentence(given):
    with pytest.raises(UsageError, match="batch_size must be a whole number above 0"):
        check_batch_size(given)


@pytest.mark.parametrize("given", ["0", "-1", "2.5", "many", "", "9" * 40])
def test_nonsense_on_the_command_line_is_one_sentence(given):
    with pytest.raises(UsageError, match="--need-batch must be a whole number above 0"):
        parsed_batch_size(given, "--need-batch")


def test_given_limit_stands():
    limit = limits.limit_of(GIB, FOUND)

    assert (limit.limit_bytes, limit.is_given) == (GIB, True)


def test_without_a_limit_the_rest_of_the_process_is_taken_off_what_is_free(monkeypatch):
    monkeypatch.setattr(limits, "headroom", lambda: 5 * GIB)

    limit = limits.limit_of(None, FOUND)

    assert limit.limit_bytes == 4 * GIB
    assert limit.because == ("5.0 GiB is free, of which the process needs 1.0 GiB besides tensors")


def test_device_has_its_own_limit():
    found = StepsFound("GPU:0", FIXED, steps(a_line), device_bytes=3 * GIB)

    assert limits.limit_of(None, found).limit_bytes == 3 * GIB
