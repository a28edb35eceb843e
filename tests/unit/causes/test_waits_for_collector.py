from dataclasses import replace

from lowwater.causes.catalogue import find_causes
from lowwater.model import Kind, tallies
from lowwater.testing import a_tally, an_evidence


def test_sawtooth_is_explained():
    evidence = replace(an_evidence(kind=Kind.SAWTOOTH), collected_bytes=30 << 20)

    [finding] = find_causes(evidence)

    assert finding.code == "LW108"
    assert finding.message == (
        "Memory rises until Python's garbage collector runs, then falls: objects in reference "
        "cycles wait for it. Nothing is lost."
    )
    assert finding.share is None


def test_list_that_the_program_empties_does_not_wait_for_the_collector():
    evidence = replace(an_evidence(kind=Kind.SAWTOOTH), collected_bytes=20_000)

    assert not find_causes(evidence)


def test_collector_that_is_off_is_told():
    off = a_tally(tallies.COLLECTOR, "enabled", each=0, start=0)

    [finding] = find_causes(an_evidence(off, kind=Kind.FLAT))

    assert finding.message == (
        "The garbage collector is off: reference cycles stay until you call it."
    )
    assert finding.fix == "Call `gc.enable()`, or `gc.collect()` once per round."


def test_objects_frozen_in_every_round_are_a_leak():
    frozen = a_tally(tallies.COLLECTOR, "frozen", each=1000, where="train.py:9")

    [finding] = find_causes(an_evidence(frozen))

    assert finding.code == "LW108"
    assert finding.message == ("`gc.freeze()` hides 4,000 more objects from the garbage collector.")
    assert finding.where == "train.py:9"


def test_collector_that_is_on_is_no_news():
    on = a_tally(tallies.COLLECTOR, "enabled", each=0, start=1)

    assert not find_causes(an_evidence(on, kind=Kind.FLAT))


def test_objects_frozen_once_are_innocent():
    frozen = a_tally(tallies.COLLECTOR, "frozen", each=0, start=90_000)

    assert [found.code for found in find_causes(an_evidence(frozen))] == ["LW404"]
