"""Recordings of real runs, ways to damage them, and the judge of what comes out."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import msgspec
import pytest

from lowwater.errors import UnreadableInput
from lowwater.recording.frames import MAGIC, frame, whole_frames
from lowwater.recording.reader import load
from lowwater.recording.records import decode
from lowwater.report import json as json_report
from lowwater.report import text
from lowwater.supervisor.session import diagnose

HERE = Path(__file__).parent
EVIL = "\x1b[31mEVIL\x1b]0;t\x07 [/data] \\[/foo] [red]x :smile: \u202e\x9b2J\r\x00\u2028{0} `"
LONG = EVIL * 2000
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SCHEMA = jsonschema.Draft202012Validator(json_report.schema())


@pytest.fixture(scope="session")
def whole():
    """Recordings of small programs, by name."""
    return {path.stem: path.read_bytes() for path in sorted(HERE.glob("whole/*.lw"))}


@pytest.fixture(scope="session")
def damage(whole):
    return Damage(whole)


@pytest.fixture(name="framed")
def _framed():
    return framed


@pytest.fixture(name="plain_records")
def _plain_records():
    return plain_records


@pytest.fixture(name="from_plain")
def _from_plain():
    return from_plain


@pytest.fixture
def read_back(tmp_path):
    """Everything that `lowwater report` does with these bytes; whether they were taken."""
    path = tmp_path / "run.lw"

    def read(data):
        path.write_bytes(data)
        return is_reported(path)

    return read


def is_reported(path):
    try:
        timeline = load(path)
    except UnreadableInput:
        return False
    diagnosis = diagnose(timeline)
    for width, colour in ((80, False), (33, True)):
        check_screen(text.render(diagnosis, width=width, colour=colour), colour=colour)
    check_json(json_report.render(diagnosis))
    return True


def check_screen(screen, *, colour):
    plain = _COLOURS.sub("", screen) if colour else screen
    assert not _CONTROLS.findall(plain)
    # Colours are ours: a recording has none to give.
    assert "\x1b[31mEVIL" not in screen


def check_json(document):
    document.encode("ascii")
    report = json.loads(document, parse_constant=_refuse)
    _SCHEMA.validate(report)


def _refuse(name):
    raise AssertionError(f"{name} is no JSON")


def framed(payloads):
    return MAGIC + b"".join(map(frame, payloads))


def plain_records(data):
    """The records as lists and dicts, which can say anything."""
    payloads = (payload for payload, _ in whole_frames(data, "a seed"))
    return [msgspec.to_builtins(decode(payload)) for payload in payloads]


def from_plain(records):
    return framed(map(msgspec.msgpack.encode, records))


@dataclass(frozen=True)
class Damage:
    """Damages a recording in one of many ways, the same for the same random numbers."""

    whole: dict[str, bytes]

    def done_with(self, rng):
        """What it was, and the bytes."""
        name = rng.choice([*self.whole])
        how = rng.choice([_flipped, _cut, _spliced, _frames_moved, _frames_mixed, *[_hostile] * 6])
        return f"{name} {how.__name__}", how(self.whole[name], rng, self.whole)


def _flipped(data, rng, _whole):
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def _cut(data, rng, _whole):
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:end] if rng.random() < 0.5 else data[:start] + data[end:]


def _spliced(data, rng, whole):
    other = rng.choice([*whole.values()])
    junk = rng.choice([rng.randbytes(40), other, b"\xff" * 8, b"\0" * 64, MAGIC])
    at = rng.randrange(len(data) + 1)
    return data[:at] + junk + data[at:]


def _frames_moved(data, rng, _whole):
    payloads = [payload for payload, _ in whole_frames(data, "a seed")]
    for _ in range(rng.randint(1, 6)):
        at, to = rng.randrange(len(payloads)), rng.randrange(len(payloads))
        match rng.randrange(4):
            case 0 if len(payloads) > 1:
                del payloads[at]
            case 1:
                payloads.insert(to, payloads[at])
            case 2:
                payloads[at], payloads[to] = payloads[to], payloads[at]
            case _:
                payloads[at:at] = [payloads[at]] * rng.choice([10, 300])
    return framed(payloads)


def _frames_mixed(_data, rng, whole):
    """Each record is whole, and no two need come from one run."""
    payloads = [payload for data in whole.values() for payload, _ in whole_frames(data, "a seed")]
    return framed(rng.sample(payloads, rng.randint(1, len(payloads))))


def _hostile(data, rng, _whole):
    """Checksums are right, values are not: of some records, or of all of one kind."""
    records = plain_records(data)
    kinds = {record[0] for record in records}
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        if rng.random() < 0.4:
            kind, seed = rng.choice(sorted(kinds)), rng.random()
            for record in records:
                if record[0] == kind:
                    _spoil(record, type(rng)(seed))
        else:
            _spoil(rng.choice(records), rng)
    return from_plain(records)


def _spoil(record, rng):
    """Replace one value somewhere in it."""
    place, key = record, rng.randrange(1, len(record)) if len(record) > 1 else 0
    while isinstance(place[key], dict | list | tuple) and place[key] and rng.random() < 0.85:
        if isinstance(place[key], tuple):
            place[key] = [*place[key]]
        place = place[key]
        key = rng.choice([*place]) if isinstance(place, dict) else rng.randrange(len(place))
    place[key] = _instead_of(place[key], rng)


def _instead_of(value, rng):
    """Another value, of the same type more often than not."""
    if rng.random() < 0.25:
        return rng.choice(ANYTHING)
    return rng.choice([*_alike(value, rng)])


def _alike(value, rng):
    match value:
        case bool() | None:
            yield from (True, False, None, 0, "", 2**53)
        case int():
            yield from INTEGERS
            yield from (value * 1000 % 2**63, -value % 2**63, value // 7, rng.randrange(99))
        case float():
            yield from FLOATS
        case str():
            yield from STRINGS
            yield from (value + EVIL, value[: len(value) // 2], f"x.py:{value}")
        case dict():
            yield from ({}, {EVIL: EVIL}, {**value, EVIL: 1}, dict.fromkeys(range(3000), ""))
        case _:
            items = [*value]
            yield from ([], items[:1], items * 2, items * 50, items[::-1], [None], items * 5000)


INTEGERS = (-1, 0, 1, 2, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, -(2**53), 10**15)
FLOATS = (float("nan"), float("inf"), -float("inf"), 1e308, -1.0, 5e-324, 0.0, 1e15, 0.5)
STRINGS = (EVIL, LONG, "", " ", "\n\n\n", "epoch", "time", "iteration", "GPU:0 in use", "`" * 99)
DEEP = [[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]
ANYTHING = (*INTEGERS, *FLOATS, *STRINGS, None, True, [], {}, DEEP, [0] * 10_000, {"a": DEEP})
