"""Sparklines show the shape of a series, and no shape where there is none."""

import pytest

from lowwater.report.sparkline import sparkline

MIB = 1 << 20


def test_ramp_climbs_through_all_blocks() -> None:
    assert sparkline([number * MIB for number in range(8)]) == "▁▂▃▄▅▆▇█"


def test_falling_series_falls() -> None:
    assert sparkline([3 * MIB, 2 * MIB, MIB]) == "█▅▁"


def test_level_series_is_a_low_line() -> None:
    assert sparkline([5 * MIB] * 4) == "▁▁▁▁"
    assert sparkline([0, 0]) == "▁▁"


def test_small_change_of_a_large_value_is_no_mountain() -> None:
    assert sparkline([500 * MIB, 500 * MIB + 900_000]) == "▁▁"


def test_change_of_more_than_a_mebibyte_shows_however_large_the_value() -> None:
    assert sparkline([500 * MIB, 502 * MIB]) == "▁█"


def test_large_share_of_a_small_value_shows() -> None:
    assert sparkline([100_000, 200_000]) == "▁█"


@pytest.mark.parametrize("count", [17, 100, 1001])
def test_long_series_is_averaged_to_the_width(count: int) -> None:
    line = sparkline([number * MIB for number in range(count)], width=16)

    assert len(line) == 16
    assert line[0] == "▁"
    assert line[-1] == "█"
    assert list(line) == sorted(line)


def test_short_series_is_not_stretched() -> None:
    assert len(sparkline([1, 2, 3], width=16)) == 3


def test_nothing_to_draw_is_an_empty_line() -> None:
    assert sparkline([]) == ""
    assert sparkline([1, 2], width=0) == ""
