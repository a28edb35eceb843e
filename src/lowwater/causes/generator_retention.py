"""LW303 generator-retention."""

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Account, Cause
from lowwater.causes._paths import line_of, name_of, owners
from lowwater.model import Evidence, Holder


class GeneratorRetention(Cause):
    """A generator or `PyDataset` keeps references to its batches.

    The object that feeds `fit` lives as long as the training.
    A batch that it appends to one of its attributes, or that a generator appends to one of its
    variables, is never freed: over an epoch that is the whole data set, in every epoch again.

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
    """

    code = "LW303"
    name = "generator-retention"
    fix = "Return each batch without keeping it; for a memo use one with a bound, per index."

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """A data set written in Python, or a suspended generator, has the container."""
        for owner in owners(holder):
            if _kinds.is_sequence(owner) or _kinds.is_generator(owner):
                return True
            if _kinds.is_native_backed(owner) or _kinds.is_callback(owner):
                return False
        return False

    def account(self, holder: Holder, evidence: Evidence) -> Account:
        """What it keeps, and where."""
        name = name_of(holder)
        message = f"`{name}` {_words.grows(holder, evidence)}."
        return Account(message, where=line_of(holder), holder=name)
