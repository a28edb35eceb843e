"""We parse exactly what we print."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowwater.model.units import (
    format_bytes,
    format_duration,
    format_growth,
    parse_bytes,
    parse_duration,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (4 * 1024**2, "4.0 MiB"),
        (1024**2 - 1, "1.0 MiB"),
        (-1536, "-1.5 KiB"),
        (5 * 1024**5, "5120.0 TiB"),
    ],
)
def test_bytes_are_written_in_the_largest_fitting_unit(count, text):
    assert format_bytes(count) == text


def test_growth_always_has_its_sign():
    assert (format_growth(2048), format_growth(-2048), format_growth(0)) == (
        "+2.0 KiB",
        "-2.0 KiB",
        "+0 B",
    )


@given(st.integers(-(10**15), 10**15))
def test_bytes_are_read_back_to_the_printed_precision(count):
    text = format_bytes(count)

    assert format_bytes(parse_bytes(text)) == text


@given(st.floats(0.001, 10**6))
def test_durations_are_read_back_to_the_printed_precision(seconds):
    text = format_duration(seconds)

    assert parse_duration(text) == pytest.approx(seconds, rel=0.51)
    assert format_duration(parse_duration(text)) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [("1.5 GiB", 3 << 29), ("200 MB", 200_000_000), ("4096", 4096), ("8gib", 8 << 30)],
)
def test_sizes_are_read_as_people_write_them(text, count):
    assert parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "GiB", "1.5 parsecs", "1,5 GiB", "one", "5 min", "9" * 400])
def test_what_is_no_size_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match=r"write it like 1\.5 GiB"):
        parse_bytes(text)


@pytest.mark.parametrize("text", ["", "10", "5 GiB", "soon"])
def test_what_is_no_duration_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="write it like 30 min"):
        parse_duration(text)
