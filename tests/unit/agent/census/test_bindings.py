"""The line that gave a name its value, as it stands in the text."""

import ast

import pytest

from lowwater.agent.census._source.bindings import attribute_lines, variable_lines

TEXT = """\
model = None
for step, batch in enumerate(data):
    model = build()
with open(name) as file, lock:
    first, (second, *rest) = read(file)

def train(rows, *, rate=0.1):
    global best
    best = rows
    net: Model = make()
    def inner():
        net = 3
    if (n := len(rows)):
        pass

class Study:
    table = load()
    def run(self):
        self.model = None
        self.model, self.loss = fit()
        other.model += 1
"""
TREE = ast.parse(TEXT)


@pytest.mark.parametrize(
    ("scope", "name", "line"),
    [
        ("", "model", 3),
        ("", "batch", 2),
        ("", "file", 4),
        ("", "rest", 5),
        ("", "best", 9),
        ("train", "net", 10),
        ("train.<locals>.inner", "net", 12),
        ("train", "n", 13),
        ("train", "rows", 7),
        ("train", "rate", 7),
    ],
)
def test_last_line_that_binds_a_variable_to_more_than_a_constant(scope, name, line):
    assert variable_lines(TREE, scope, name)[-1] == line


@pytest.mark.parametrize(("name", "line"), [("table", 17), ("loss", 20), ("model", 20)])
def test_last_line_that_sets_an_attribute_in_its_class(name, line):
    assert attribute_lines(TREE, "Study", name)[-1] == line


def test_name_that_is_nowhere_has_no_line():
    assert variable_lines(TREE, "", "nowhere") == []
    assert variable_lines(TREE, "nowhere", "model") == []
    assert attribute_lines(TREE, "train", "model") == []
