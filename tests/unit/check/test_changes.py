"""What differs from round to round, where names depend on each other."""

from lowwater.testing import findings_in


def codes(text):
    return [one.code for one in findings_in(text)]


def test_names_that_depend_on_each_other_in_a_circle_end():
    text = (
        "import numpy as np\nimport keras\nkept = {}\nwhile True:\n    a = f(b)\n    b = g(a)\n"
        "    kept[a] = np.zeros(b)\n"
    )

    assert codes(text) == []


def test_a_match_statement_is_read():
    text = (
        "import keras\nmatch thing:\n"
        "    case keras.Model(name='a', trainable=True):\n        pass\n"
        "    case {'a': 1, **rest}:\n        pass\n    case True | None:\n        pass\n"
    )

    assert codes(f"{text}.compile()\n".replace(".compile()", "")) == []
