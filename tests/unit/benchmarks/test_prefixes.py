import runpy
from pathlib import Path

from lowwater.model import Kind, Verdict
from replay.first_line import Truth
from replay.measure import Answer
from replay.recordings import Recorded

PROGRAM = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "prefixes.py"))
RUN = Recorded("made_up", "quiet", Path("made_up/quiet.lw"))


def said(kind, rounds, truth="leak"):
    return Answer(RUN, Truth(truth), rounds, Verdict(kind, "it was told so"))


def test_answers_are_counted_by_the_number_of_rounds():
    answers = [
        *(said(Kind.INCONCLUSIVE, 5), said(Kind.FLAT, 5), said(Kind.LEAK, 6)),
        *(said(Kind.LEAK, 12), said(Kind.LEAK, 15), said(Kind.LEAK, 900)),
    ]

    table = PROGRAM["table"](answers)

    assert table[0] == "| rounds | prefixes | right | inconclusive | wrong | filling |"
    assert table[2:4] == ["| 5 | 2 | 0 | 1 | 1 | 0 |", "| 6 | 1 | 1 | 0 | 0 | 0 |"]
    assert "| 12 to 15 | 2 | 2 | 0 | 0 | 0 |" in table
    assert table[-1] == "| 200 and more | 1 | 1 | 0 | 0 | 0 |"


def test_what_is_not_as_it_should_be_is_listed_by_its_fault():
    early, late, whole = said(Kind.LEAK, 6), said(Kind.FLAT, 7), said(Kind.INCONCLUSIVE, 7)
    few = Answer(RUN, Truth("leak"), 7, said(Kind.FLAT, 7).verdict, "ten_times_fewer", 3)

    listed = PROGRAM["lists"]([PROGRAM["Replayed"](RUN, whole, (early, late), (few,))])

    assert {what: answers for what, answers in listed.items() if answers} == {
        "inconclusive at the end of the run": [whole],
        "wrong prefixes": [late],
        "leaks that are taken back": [late],
        "copies that are judged otherwise": [few],
    }
