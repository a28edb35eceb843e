"""`lowwater.boundary`: few units however many names, and the same errors watched or not."""

from collections import Counter

import pytest

from lowwater.agent.instrumentation import explicit
from lowwater.agent.instrumentation.explicit import MOST_NAMES, boundary, listen, unit_name
from lowwater.recording.records import UnitSeen, decode, encode


class Counters:
    def __init__(self):
        self.rounds = Counter()
        self.notes = []

    def passes_of(self, name):
        counters = self

        class Completions:
            def completed(self):
                counters.rounds[name] += 1

        return Completions()

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)


@pytest.fixture
def counters():
    counters = Counters()
    listen(counters.passes_of, counters.note)
    yield counters
    explicit._names.clear()


def test_names_that_differ_by_a_number_are_one_unit(counters):
    for i in range(60_000):
        boundary(f"episode {i}")

    assert counters.rounds == {"episode": 60_000}
    assert counters.notes == [
        "lowwater.boundary() names that differ only by a number count as one unit, `episode`"
    ]


def test_a_number_within_a_word_is_part_of_the_name_until_there_are_too_many(counters):
    for i in range(60_000):
        boundary(f"episode{i}")
    boundary("conv2d")

    assert len(counters.rounds) <= MOST_NAMES + 2
    assert counters.rounds["episode"] == 60_000 - MOST_NAMES
    assert len(counters.notes) == 1


def test_the_excess_of_names_is_not_counted_and_said_once(counters):
    for i in range(60_000):
        boundary("".join(chr(ord("a") + int(digit)) for digit in str(i)))

    assert len(counters.rounds) == 2 * MOST_NAMES
    assert counters.notes == [
        "lowwater.boundary() was given more than 64 names: the later ones are not watched"
    ]


def test_nothing_is_kept_of_each_name(counters):
    for i in range(10_000):
        boundary(f"episode {i}")

    assert len(explicit._names[0]._first) == 1
    assert unit_name.cache_info().currsize <= 256


@pytest.mark.parametrize("name", ["phase1", "phase2", "resnet50", "conv2d step", "Jörg", "3rd try"])
def test_a_few_names_stay_as_they_are(counters, name):
    boundary(name)
    boundary(name)

    assert counters.rounds == {name: 2}
    assert counters.notes == []


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("episode 17", "episode"),
        ("fold_3/trial-4", "fold/trial"),
        ("epoch 3/10", "epoch"),
        ("lr=0.01", "lr"),
        ("(3/10) batch", "batch"),
        ("17", "round trip"),
        ("", "round trip"),
        ("\x1b[31mE\n\x07", "?[31mE ?"),
        ("\ud800 step", "? step"),
        ("x" * 100_000, "x" * 60),
    ],
)
def test_any_string_becomes_a_short_name_that_can_be_recorded(counters, name, unit):
    boundary(name)

    [counted] = counters.rounds
    assert counted == unit
    assert decode(encode(UnitSeen(0, counted, None))) == UnitSeen(0, counted, None)


@pytest.mark.parametrize("name", [None, 5, b"episode", ["episode"], object()])
@pytest.mark.parametrize("is_watched", [False, True])
def test_what_is_no_name_is_refused_watched_or_not(request, name, is_watched):
    counters = request.getfixturevalue("counters") if is_watched else None

    with pytest.raises(TypeError, match=r'such as "episode" \(received: \w+\)'):
        boundary(name)

    assert counters is None or not counters.rounds


def test_the_error_never_calls_the_object():
    class Hostile:
        def __repr__(self):
            raise SystemExit

    with pytest.raises(TypeError, match="received: Hostile"):
        boundary(Hostile())
