import ast
import linecache

import pytest

from lowwater.giveback.notebook_cell import read_in_rest_of_cell


@pytest.fixture
def first_of(monkeypatch):
    """The code of the first statement of a cell, compiled alone as IPython does."""

    def compiled(text, name="<ipython-input-1>"):
        monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(True), name))
        first = ast.Module(ast.parse(text.split("%")[0]).body[:1], [])
        return compile(first, name, "exec")

    return compiled


def test_name_that_the_next_statement_reads_is_told_with_its_line(first_of):
    code = first_of("if True:\n    best = 1\n    model = 2\nprint(best)\nmodel = 3\n")

    found = read_in_rest_of_cell(code, ["best", "model"])

    assert found == {"best": "read later, line 4 of the cell"}


def test_what_the_statement_itself_reads_is_no_rest(first_of):
    assert read_in_rest_of_cell(first_of("best = [1]; print(best)\n"), ["best"]) == {}


def test_statement_that_may_read_anything_reads_all(first_of):
    code = first_of("best = 1\nget_ipython().run_line_magic('time', 'str(best)')\n")

    assert {*read_in_rest_of_cell(code, ["best", "model"])} == {"best", "model"}


def test_cell_that_cannot_be_parsed_reads_all(first_of):
    assert {*read_in_rest_of_cell(first_of("best = 1\n%time best\n"), ["best"])} == {"best"}


def test_file_is_its_code_and_has_no_rest(tmp_path, first_of):
    file = tmp_path / "train.py"
    file.write_text("best = 1\nprint(best)\n")

    assert read_in_rest_of_cell(first_of(file.read_text(), str(file)), ["best"]) == {}


def test_code_without_a_source_has_no_rest():
    assert read_in_rest_of_cell(compile("best = 1", "<string>", "exec"), ["best"]) == {}
