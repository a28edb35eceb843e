"""LW211 lookup-table."""

from typing import TYPE_CHECKING

from lowwater.causes import _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import altogether
from lowwater.causes.upstream.lookup_table import LOOKUP_TABLE
from lowwater.model import Evidence, tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_LAYERS = ("StringLookup", "IntegerLookup", "TextVectorization")


class LookupTable(Cause):
    """Every round creates lookup tables, and TensorFlow keeps the entries of each.

    `StringLookup`, `IntegerLookup` and `TextVectorization` put their vocabulary into a
    TensorFlow table. The table has a name, and TensorFlow never frees a named table:
    it outlives the layer, the model, `clear_session()` and a garbage collection.
    Measured on TensorFlow 2.21: 0.4 MB for each 5,000 words, 0.2 MB for each 5,000 integers.
    One layer is harmless. One per fold, request or `load_model` adds up.

    Leaks:

        for fold in range(10):
            words = keras.layers.StringLookup(vocabulary=vocabulary)
            model = build_model(words)

    Stays flat:

        words = keras.layers.StringLookup(vocabulary=vocabulary)
        for fold in range(10):
            model = build_model(words)
            keras.utils.clear_session()

    Known problems:

        A loop over the columns of a table is not blamed: it makes one lookup for each column.
        Layers that `load_model` makes are found only when the program runs.

    Fix safety:

        There is no automatic fix: what must move out of the loop is for you to decide.

    Applies to:

        TensorFlow 2.11 and later.
    """

    code = "LW211"
    name = "lookup-table"
    fix = LOOKUP_TABLE.advice
    known = LOOKUP_TABLE
    is_mostly_native = True
    words = ("StringLookup(", "IntegerLookup(", "TextVectorization(")
    measured = "1.7 MiB per iteration in the specimen of this rule, of 20,000 words at most"

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """Tables were made in every interval."""
        tables = altogether(evidence, tallies.TABLE)
        if tables is None:
            return None
        rate = _words.rise(tables, "lookup table", "lookup tables", evidence)
        message = (
            f"New lookup tables are created, {rate}, and TensorFlow keeps the entries of each."
        )
        return Claim(message, tables.where, "tensorflow lookup tables")

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A layer with a lookup table is made in each round of a loop."""
        for call in source.calls_of(*_LAYERS):
            if not source.calls_library(call, *(f"keras.layers.{one}" for one in _LAYERS)):
                continue
            repeated = next(filter(source.is_worked_through, source.rounds(call)), None)
            if repeated is not None and repeated.is_loop:
                yield source.claim(
                    call,
                    f"A new lookup table is made in every {repeated.name}, and TensorFlow keeps "
                    "each.",
                    label="its entries stay in memory until the process ends",
                )
