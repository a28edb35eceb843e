"""LW303 generator-retention."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import below, is_programs, line_of, name_of, owners
from lowwater.causes.model_accumulation import ModelAccumulation
from lowwater.model import Evidence, GrowthSite, Holder, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim


class GeneratorRetention(Cause):
    """A generator or `PyDataset` keeps references to its batches.

    The object that feeds `fit` lives as long as the training.
    A batch that it appends to one of its attributes, or that a generator appends to one of its
    variables or to a list of the program, is never freed. Over an epoch, this adds up to the
    whole data set, and every epoch adds it again.

    Leaks:

        class Batches(keras.utils.PyDataset):
            def __init__(self):
                super().__init__()
                self.served = []

            def __len__(self):
                return 100

            def __getitem__(self, index):
                batch = load(index)
                self.served.append(batch)
                return batch

    Stays flat:

        class Batches(keras.utils.PyDataset):
            def __len__(self):
                return 100

            def __getitem__(self, index):
                return load(index)

    Known problems:

        A batch that an object of another class keeps is found only when the program runs.
        So is one that the data set keeps by its index: there are as many as in one epoch.

    Fix safety:

        There is no automatic fix: the program may read what it keeps.

    Applies to:

        Generators, `keras.utils.PyDataset`, `keras.utils.Sequence` and
        `torch.utils.data.Dataset`.
    """

    code = "LW303"
    name = "generator-retention"
    fix = (
        "Return each batch without keeping it. If you need a cache, limit its size and key it by "
        "index."
    )

    words = ("yield", "__getitem__", "__next__")
    words_beside = ModelAccumulation.words
    measured = "1.0 MiB per epoch in the specimen of this rule"
    is_preview = True

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """A data set written in Python, or a suspended generator, has the container or fills it."""
        if _site(holder) is not None:
            return True
        for owner in owners(holder):
            if _kinds.is_sequence(owner) or _kinds.is_generator(owner):
                return True
            if _kinds.is_native_backed(owner) or _kinds.is_callback(owner):
                return False
        return False

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """What it keeps, and where."""
        name, site = name_of(holder), _site(holder)
        message = f"`{name}` {_words.grows(holder, evidence)}."
        if site is not None and site.in_function:
            giver = site.in_function.rpartition("<locals>.")[2]
            message += f" `{giver}` keeps every batch that it yields."
        return Claim(message, where=line_of(holder), holder=name)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A generator or data set adds its batches to a container that nothing limits."""
        for growth in source.growths:
            giver = source.giver_of(growth)
            if giver is None or growth.keeps_model:
                continue
            if not (growth.is_heavy or growth.is_handed_out):
                continue
            name, gives = (giver.name, "yields")
            if not giver.yields and giver.outer is not None:
                name, gives = giver.outer.name, "returns"
            yield source.claim(
                growth.node,
                f"`{growth.name}` grows with every batch that `{name}` {gives}.",
                label=f"{growth.one} per batch, {growth.how_long}",
            )


def _site(holder: Holder) -> GrowthSite | None:
    """The line of a generator or a data set that keeps its batches in a container elsewhere."""
    first = next(iter(holder.sites), None)
    is_by_giver = first is not None and first.keeps_batches and is_programs(holder)
    return first if is_by_giver and all(map(_may_be_data, below(holder))) else None


def _may_be_data(step: Step) -> bool:
    """Whether it may be part of a batch: models and functions have causes of their own."""
    others = (_kinds.is_native_backed, _kinds.is_callback, _kinds.is_function, _kinds.is_exception)
    return not any(look(step) for look in others)
