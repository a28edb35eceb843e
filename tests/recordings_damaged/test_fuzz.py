"""A damaged recording is refused in a sentence, or reported; nothing else, whatever is damaged.

`LOWWATER_FUZZ=50000 pytest tests/recordings_damaged` tries more; `LOWWATER_FUZZ_SEED` others.
"""

import os
import random
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Files that once ended in a traceback, or steered a terminal -> whether they are reported.
FOUND = {
    "not-utf-8": False,
    "escapes-in-a-name": False,
    "escapes-in-experiments": True,
}
CASES = int(os.environ.get("LOWWATER_FUZZ", "240"))
SEED = os.environ.get("LOWWATER_FUZZ_SEED", "0")
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_any_damage_is_refused_or_reported(damage, read_back, part, tmp_path):
    outcomes = set()
    for case in range(part, CASES, PARTS):
        how, data = damage.done_with(random.Random(f"{SEED}.{case}"))
        try:
            outcomes.add(read_back(data))
        except Exception as error:
            kept = Path(tmp_path, f"{case}.lw")
            kept.write_bytes(data)
            error.add_note(f"case {SEED}.{case}: {how}, kept in {kept}")
            raise

    assert outcomes == {True, False}


def test_a_recording_that_is_whole_is_reported(whole, read_back):
    assert len(whole) == 5
    assert all(map(read_back, whole.values()))


def test_what_was_found_once_is_refused_or_reported(read_back):
    files = {path.stem: path.read_bytes() for path in HERE.glob("found/*.lw")}

    assert {name: read_back(data) for name, data in files.items()} == FOUND


def test_cut_at_any_frame_or_within_it_is_reported(whole, read_back):
    data = whole["killed"]

    assert all(read_back(data[:end]) for end in range(9, len(data), 7))
