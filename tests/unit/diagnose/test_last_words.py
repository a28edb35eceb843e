"""What a program that failed has said."""

import pytest

from lowwater.diagnose.last_words import last_words

TRACEBACK = """Epoch 1/2
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
KeyError: 'loss'
W0000 the end of a stream
"""
CHAINED = (
    TRACEBACK
    + """
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 5, in <module>
ValueError: no loss
"""
)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (TRACEBACK, "KeyError: 'loss'"),
        (CHAINED, "ValueError: no loss"),
        (
            '  File "x.py", line 1\n    (\n    ^\nSyntaxError: not closed\n',
            "SyntaxError: not closed",
        ),
        ("1/9 loss: 3\r9/9 loss: 1\r\n\n", "9/9 loss: 1"),
        ("\x1b[1mbold\x1b[0m\n", "bold"),
        ("", ""),
    ],
)
def test_exception_is_named_else_the_last_line(written, said, tmp_path):
    (output := tmp_path / "output").write_text(written, newline="")

    assert last_words(str(output)) == said


def test_long_line_is_cut_and_a_missing_file_has_none(tmp_path):
    (output := tmp_path / "output").write_text("x" * 500)

    assert len(last_words(str(output))) == 120
    assert last_words(str(tmp_path / "missing")) == ""
