"""LW106 notebook-output."""

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import container, line_of, nearest_line
from lowwater.model import Evidence, Holder, Step

_OUTPUTS = frozenset({"Out", "_oh", "output_hist"})
_LAST_ERRORS = frozenset({"last_exc", "last_value", "last_traceback"})


class NotebookOutput(Cause):
    """A notebook keeps every result that it showed, and the last exception.

    IPython stores the value of each cell's last line in `Out`, and the latest three in
    `_`, `__` and `___`. After an error, `sys.last_traceback` holds the frames of the failed
    cell with all their variables. So deleting your own variable does not free its value.

    Leaks:

        for trial in range(100):
            get_ipython().run_cell("model.predict(x)", store_history=True)

    Stays flat:

        for trial in range(100):
            get_ipython().run_cell("predictions = model.predict(x);", store_history=True)
    """

    code = "LW106"
    name = "notebook-output"
    fix = (
        "End the cell's last line with `;` or assign it to a name. `%reset -f out` frees what is "
        "already kept."
    )

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """The container is the notebook's table of results, or hangs on its last exception."""
        is_table = _kinds.class_name(container(holder).type) == "dict"
        if is_table and _variable(container(holder)) in _OUTPUTS:
            return True
        return any(_variable(step) in _LAST_ERRORS for step in holder.steps[:3])

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Which table of the notebook it is."""
        error = next((s for s in holder.steps[:3] if _variable(s) in _LAST_ERRORS), None)
        if error is not None:
            name = f"sys.{_variable(error)}"
            message = f"`{name}` keeps the variables of the last cell that failed."
            fix = "Run a cell with `import sys; sys.last_traceback = sys.last_value = None`."
            return Claim(message, nearest_line(holder), name, fix)
        message = f"The notebook's `Out` {_words.grows(holder, evidence)}."
        return Claim(message, where=line_of(holder), holder="Out")


def _variable(step: Step) -> str:
    return step.edge.strip(".[]'\"")
