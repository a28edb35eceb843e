"""Leave out the program's own callbacks."""

from types import ModuleType
from typing import Any

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.factors.muted_callbacks import MutedCallbacks
from lowwater.diagnose.facts import Facts
from lowwater.diagnose.look import STEPS_OF, flattened, is_meant, parts_of, spans_of
from lowwater.model.frameworks import KERAS


class WithoutCallbacks(Factor):
    """All of them, or the one that `detail` names."""

    key = "callbacks"
    name = "without your callbacks"
    cleared = "not your callbacks"
    blamed = "one of your callbacks"
    codes = ("LW101",)
    rejects = ("LW101",)
    instead = MutedCallbacks()

    def why_not(self, facts: Facts) -> str | None:
        """There have to be some."""
        if facts.callbacks:
            return None
        return "fit has none of your callbacks" if facts.fits else "the program does not call fit"

    def parts(self, facts: Facts) -> dict[str, str]:
        """Each of them."""
        return parts_of(facts)

    def places(self, facts: Facts, detail: str) -> tuple[str, ...]:
        """The code of all of them, or of one."""
        return spans_of(facts, detail)

    def apply(self, change: Change, detail: str) -> None:
        """Give the others to `fit`."""

        def without(callbacks: Any) -> list[Any]:  # noqa: ANN401
            return [one for one in flattened(callbacks) if not is_meant(one, detail)]

        def place(keras: ModuleType) -> None:
            change.rebind(keras.Model.fit, "callbacks", without)
            # `fit` gives its own list to `evaluate`, from which they are gone already.
            for call in STEPS_OF.keys() - {"fit"}:
                change.rebind(
                    getattr(keras.Model, call),
                    "callbacks",
                    lambda given: given if hasattr(given, "callbacks") else without(given),
                )

        for library in KERAS:
            change.when_imported(library, place)
