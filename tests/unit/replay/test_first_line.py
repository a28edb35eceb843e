import pytest

from replay.first_line import Expected, Truth, finding_faults, parse, verdict_faults

LEAK = "# expect: leak of 4194304 bytes per epoch at train.py:20; LW101|LW102 at 14,22 held by A.b"
VERDICT = {
    "kind": "leak",
    "is_leak": True,
    "unit": "epoch",
    "where": "train.py:20",
    "growth_bytes_per_unit": 4_300_000,
}
FINDING = {"code": "LW101", "where": "train.py:22", "holder": "A.b[*]"}


def test_first_line_says_verdict_and_findings():
    truth = parse(LEAK)

    expected = Expected(("LW101", "LW102"), (14, 22), "A.b")
    stated = {"rate_bytes": 4194304, "unit": "epoch", "where": "train.py:20"}
    assert truth == Truth("leak", **stated, findings=(expected,))


def test_first_line_says_when_a_fill_is_over():
    truth = parse("# expect: no leak; fills until 8; LW302")

    assert truth.fills_until == 8
    assert truth.findings == (Expected(("LW302",)),)


def test_rate_that_is_only_about_right_is_held_to_less():
    exact, about = parse("# expect: leak of 100 bytes"), parse("# expect: leak of about 100 bytes")

    assert exact.rate_bytes == about.rate_bytes == 100
    assert exact.tolerance < about.tolerance


def test_line_that_is_not_understood_is_refused():
    with pytest.raises(ValueError, match="not understood: 'LW1'"):
        parse("# expect: leak; LW1")


def test_report_as_the_line_says_has_no_faults():
    truth = parse(LEAK)

    assert not verdict_faults(VERDICT, truth)
    assert not finding_faults([FINDING], truth, is_leak=True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "cache", "is_leak": False},
        {"unit": "iteration"},
        {"where": "train.py:3"},
        {"growth_bytes_per_unit": 4_700_000},
        {"growth_bytes_per_unit": None},
    ],
)
def test_verdict_that_says_otherwise_has_a_fault(wrong):
    assert len(verdict_faults(VERDICT | wrong, parse(LEAK))) == 1


@pytest.mark.parametrize("wrong", [{"code": "LW201"}, {"where": "train.py:3"}, {"holder": None}])
def test_finding_that_says_otherwise_is_not_the_expected_one(wrong):
    assert finding_faults([FINDING | wrong], parse(LEAK), is_leak=True)


def test_only_the_first_finding_counts_where_one_is_expected():
    other = FINDING | {"code": "LW201"}

    assert finding_faults([other, FINDING], parse(LEAK), is_leak=True)


def test_run_that_does_not_leak_is_accused_of_nothing():
    truth = parse("# expect: no leak")

    assert finding_faults([FINDING], truth, is_leak=False)
    assert not finding_faults([FINDING | {"code": "LW401"}], truth, is_leak=False)
