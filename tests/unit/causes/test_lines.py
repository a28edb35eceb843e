from dataclasses import replace

from lowwater.causes._lines import altogether, grew, grown
from lowwater.model import Census, Tally, Unit, Verdict, tallies
from lowwater.testing import a_tally, an_evidence

OUTER, INNER = Unit(2, "iteration", "train.py:43"), 4


def a_run_with_censuses_at(*ordinals):
    """Each census is called for by the inner loop, after so many rounds of the outer one."""
    evidence = an_evidence()
    censuses = tuple(
        Census(INNER, 100 * index, float(index), 0.1, 0, 0, (0, 0, ordinal, 0, 100 * index))
        for index, ordinal in enumerate(ordinals)
    )
    verdict = replace(evidence.verdict, unit=OUTER)
    return replace(evidence, censuses=censuses, verdict=verdict)


def a_count(*counts):
    return Tally(tallies.CALLS, "random op", counts, "train.py:35")


def test_count_that_rises_in_every_round_grew():
    assert grew(a_count(3, 4, 13), a_run_with_censuses_at(3, 4, 13))


def test_second_census_of_one_round_proves_nothing():
    assert grew(a_count(46, 46, 60, 167), a_run_with_censuses_at(3, 3, 4, 13))


def test_round_without_a_rise_acquits():
    assert not grew(a_count(46, 60, 60, 167), a_run_with_censuses_at(2, 3, 4, 13))


def test_what_grew_between_censuses_of_one_round_has_grown():
    assert grew(a_count(1, 2, 3), a_run_with_censuses_at(3, 3, 3))
    assert not grew(a_count(1, 2, 2), a_run_with_censuses_at(3, 3, 3))


def test_verdict_without_a_unit_takes_every_census():
    evidence = replace(an_evidence(), verdict=Verdict(an_evidence().verdict.kind, "told so"))

    assert grew(a_count(1, 2, 3), evidence)
    assert not grew(a_count(1, 1, 3), evidence)


def test_calls_at_several_lines_are_one_at_the_busiest():
    few = a_tally(tallies.CALLS, "random op", each=1, where="train.py:3", start=0)
    many = a_tally(tallies.CALLS, "random op", each=9, where="train.py:9", start=0)

    found = altogether(an_evidence(few, many), "random op")

    assert (found.counts, found.where) == ((40, 60, 80), "train.py:9")


def test_calls_that_stopped_are_not_told_of():
    once = a_tally(tallies.CALLS, "random op", each=0, where="train.py:3")

    assert altogether(an_evidence(once), "random op") is None
    assert grown(an_evidence(once), tallies.CALLS) is None
