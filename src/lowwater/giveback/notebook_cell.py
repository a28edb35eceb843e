"""What the rest of a notebook's cell reads: IPython runs each statement as a code of its own."""

import ast
import linecache
import os
from collections.abc import Collection
from types import CodeType

from lowwater.giveback.code_flow import READS_ALL

# A magic has its statement in a string.
_READS_ALL = READS_ALL | {"get_ipython"}


def read_in_rest_of_cell(code: CodeType, names: Collection[str]) -> dict[str, str]:
    """The names that the statements after this one load, in whatever order.

    The code of a module is its whole file; then there are no statements after it.
    """
    if os.path.exists(code.co_filename):
        return {}
    source = "".join(linecache.getlines(code.co_filename))
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return dict.fromkeys(names, "possibly read later: the rest of the cell cannot be parsed")
    end = max((line for _, _, line in code.co_lines() if line), default=0)
    found: dict[str, str] = {}
    for statement in statements:
        if statement.lineno > end:
            found = _read_in(statement, names) | found
    return found


def _read_in(statement: ast.stmt, names: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in ast.walk(statement):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
            read = names if one.id in _READS_ALL else {one.id} & {*names}
            told = dict.fromkeys(read, f"read later, line {one.lineno} of the cell")
            found = told | found
    return found
