"""The screen and the JSON of `lowwater footprint`."""

import json
from dataclasses import replace

import jsonschema
import pytest
from rich.cells import cell_len

from footprints import MIB, a_footprint, steps
from lowwater.model import NotMeasured
from lowwater.model.footprint import Buffer, Length, Remedy, StepKind, Story, TensorLimit
from lowwater.report.footprint import render
from lowwater.report.footprint_json import schema, to_dict
from lowwater.sizing.answer import Answer, BatchNeed
from lowwater.sizing.largest import LargestBatch


def a_largest(batch_size=482, *, is_confirmed=True, because="largest that fits 1000.0 MiB"):
    largest = LargestBatch(batch_size)
    largest.limit_bytes, largest.because, largest.tried = 1000 * MIB, because, ()
    largest.is_confirmed, largest.peak_bytes = is_confirmed, 999 * MIB if is_confirmed else None
    return largest


OTHERS = (
    *steps(lambda batch: 31 + batch / 2, kind=StepKind.EVALUATE),
    *steps(lambda batch: 31 + batch / 4, kind=StepKind.PREDICT),
)
ANSWER = Answer(
    a_footprint(others=OTHERS),
    TensorLimit(1000 * MIB, "given", is_given=True),
    a_largest(),
    pipeline=(
        Buffer("shuffle(1000)", 12 * MIB),
        Buffer("prefetch", NotMeasured("TensorFlow chooses its size while training")),
    ),
    beside_bytes=412 * MIB,
    story=Story("fit", "train.py:12", 3.2, ("runs/log.txt",)),
    model="net",
)


def told_by(answer):
    """The words of the screen, wherever its lines break."""
    return " ".join(render(answer).split())


def test_whole_screen():
    assert (
        render(ANSWER)
        == """\
The script ran for 3.2 s, until `fit` at train.py:12; Lowwater ended it there.
Before that, it opened files for writing: `runs/log.txt`.

Peak of one training step on CPU:0, measured at batch 8, 16, 32 and 64 (8
steps), and predicted by a line (fits to 1.0 %):

  batch       peak              between  of 1000.0 MiB
     16   67.0 MiB             measured  █▋
     32   99.0 MiB             measured  ██▍
     64  163.0 MiB             measured  ███▉
    256  547.0 MiB        477.9 … 616.1  █████████████▏
    482  999.0 MiB             measured  largest that fits (confirmed)
    512    1.0 GiB  923.7 MiB … 1.2 GiB  does not fit

On this host, the process needs about 412.0 MiB besides these tensors.

Where it goes at batch 64:
  weights       10.0 MiB   6 %
  optimizer     20.0 MiB  12 %
  batch          8.0 MiB   5 %
  activations  120.0 MiB  74 %
  gradients      5.0 MiB   3 %  at most
Other steps at batch 64: evaluation 63.0 MiB, inference 47.0 MiB.

Input pipeline, in host memory once full:
  shuffle(1000): 12.0 MiB
  prefetch: not known, because TensorFlow chooses its size while training

Next: `batch_size=482` in your `fit`.
"""
    )


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(width):
    assert max(map(cell_len, render(ANSWER, width=width).splitlines())) <= width


def test_batch_that_was_needed_is_a_row():
    need = BatchNeed(700, fits=False, because="a batch of 700 does not fit")

    [row] = [line for line in render(replace(ANSWER, need=need)).splitlines() if " 700 " in line]

    assert row.endswith("does not fit")


def test_what_was_not_confirmed_says_so():
    largest = a_largest(is_confirmed=False, because="not confirmed: this machine has only 1 GiB")

    screen = render(replace(ANSWER, largest=largest))

    assert "largest that fits (not confirmed)" in screen
    assert "The largest batch is not confirmed: this machine has only 1 GiB." in screen


def test_peak_that_bends_is_shown_as_far_as_it_was_measured():
    screen = told_by(replace(ANSWER, footprint=a_footprint(lambda n: 30 + n**2 / 4)))

    assert (
        "The peak cannot be predicted beyond batch 64, because the peak grows faster than "
        "the batch." in screen
    )


def test_limit_that_nobody_gave_is_explained():
    limit = TensorLimit(1000 * MIB, "5.0 GiB are free", is_given=False)

    screen = render(replace(ANSWER, limit=limit))

    assert "The limit: 5.0 GiB are free." in screen
    assert screen.endswith('For another machine or device: `--limit "8 GiB"`.\n')


def test_sequences_of_any_length_are_told():
    length = Length(50, 64, 163 * MIB, 100 * MIB)

    assert (
        "Measured with samples of length 50, which may vary; at batch 64, twice the length takes "
        "1.6 times the peak." in told_by(replace(ANSWER, footprint=a_footprint(length=length)))
    )


def test_remedies_are_a_table_and_those_that_fit_say_what_they_change():
    remedies = (
        Remedy("as it is", 150 * MIB, 0.5, "", "does not fit", fits=False),
        Remedy("mixed precision", 90 * MIB, 0.21, "results in 16 bits", "fits", fits=True),
        Remedy("SGD", 149 * MIB, 0.5, "other results", "saves nothing here", fits=False),
        Remedy("jit_compile", None, None, "", "does not apply: the model runs eagerly"),
    )

    screen = render(replace(ANSWER, remedies=remedies))

    assert "Ways to fit batch 64, each measured with real steps:\n" in screen
    assert "  as it is         150.0 MiB  500 ms  does not fit\n" in screen
    assert "  mixed precision   90.0 MiB  210 ms  fits\n" in screen
    assert "  mixed precision: results in 16 bits\n" in screen
    assert "other results" not in screen
    assert "  jit_compile does not apply: the model runs eagerly\n" in screen


def test_json_follows_its_schema():
    whole = replace(
        ANSWER,
        need=BatchNeed(700, fits=False, because="too large"),
        remedies=(Remedy("SGD", MIB, 0.1, "other results"),),
        footprint=a_footprint(length=Length(50, 64, 163 * MIB, None), others=OTHERS),
    )
    nothing = replace(
        ANSWER,
        limit=NotMeasured("no /proc"),
        largest=NotMeasured("there is no limit"),
        story=None,
        pipeline=(),
        footprint=a_footprint(lambda n: 30 + n**2, batch_size=4096),
    )

    jsonschema.Draft202012Validator.check_schema(schema())
    for answer in (ANSWER, whole, nothing):
        jsonschema.validate(json.loads(json.dumps(to_dict(answer))), schema())


def test_json_has_the_numbers():
    told = to_dict(ANSWER)

    assert told["schema"] == "lowwater.footprint/1"
    assert told["largest_batch"]["batch_size"] == 482
    assert (
        told["peak"]["peak_bytes"] == 163 * MIB == sum(one["size_bytes"] for one in told["parts"])
    )
    assert told["pipeline"][1]["size_bytes"] is None
