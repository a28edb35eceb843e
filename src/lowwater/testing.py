"""Public builders and fakes for tests: a small language that tells the story of a run.

>>> run = a_run(epochs=12).grows(mib=4).noise(mib=1, seed=7)
>>> len(run.timeline().samples)
12
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lowwater.model import (
    Census,
    Collection,
    Evidence,
    GrowthSite,
    Holder,
    Kind,
    Ledger,
    NotMeasured,
    Reading,
    Sample,
    Step,
    Tally,
    Timeline,
    Unit,
    Verdict,
    gauges,
)
from lowwater.model.source import SourceFinding

_MIB = 1 << 20
_LEVELS_MIB = {
    gauges.HEAP_USED: 100,
    gauges.MMAP_USED: 50,
    gauges.HEAP_FREE: 4,
    gauges.RSS_FILE: 300,
    gauges.RSS_SHMEM: 0,
}
_PYTHON_BLOCKS = 500_000
# Thread stacks and the like: resident, and in nobody's books.
_REMAINDER_MIB = 20
_NEVER = 1 << 30

Rounds = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Run:
    """A run to be told: every method adds one thing that happened and gives a new run.

    Resident anonymous bytes follow from what is used and free;
    what is added to `rss_anon` itself comes on top.
    """

    rounds: int
    unit: Unit
    start_s: float = 0.0
    seconds: float = 60.0
    changes: Mapping[str, Rounds] = field(default_factory=dict)
    garbage_bytes: float = 0.0
    collected_at: frozenset[int] = frozenset()
    missing: frozenset[str] = frozenset()
    has_start: bool = False
    is_thinned: bool = False

    def holds(self, gauge: str, mib: float) -> "Run":
        """The gauge stands at this level, on top of all else that is told of it."""
        return self._add(gauge, np.full(self.rounds + 1, mib - _LEVELS_MIB.get(gauge, 0)))

    def grows(
        self, gauge: str = gauges.HEAP_USED, *, mib: float, since: int = 0, until: int = _NEVER
    ) -> "Run":
        """The gauge rises by so much in every round after `since`, up to `until`."""
        return self._add(gauge, mib * (np.clip(self._ordinals, since, until) - since))

    def fills(self, gauge: str = gauges.HEAP_USED, *, mib: float, until: int) -> "Run":
        """The gauge rises evenly by so much in all, and is full at round `until`."""
        return self.grows(gauge, mib=mib / until, until=until)

    def saturates(self, gauge: str = gauges.HEAP_USED, *, mib: float, rounds: float) -> "Run":
        """The gauge comes ever closer to so much more, two thirds of it within `rounds`."""
        return self._add(gauge, mib * (1 - np.exp(-self._ordinals / rounds)))

    def jumps(self, gauge: str = gauges.HEAP_USED, *, mib: float, at: int) -> "Run":
        """The gauge is higher by so much from round `at` on."""
        return self._add(gauge, np.where(self._ordinals >= at, mib, 0.0))

    def spikes(self, gauge: str = gauges.HEAP_USED, *, mib: float, at: int) -> "Run":
        """The gauge is higher by so much in round `at` only."""
        return self._add(gauge, np.where(self._ordinals == at, mib, 0.0))

    def swings(self, gauge: str = gauges.HEAP_USED, *, mib: float, every: int) -> "Run":
        """A sawtooth: so much more in each round, and all of it gone in every so-many-th."""
        return self._add(gauge, mib * (self._ordinals % every))

    def noise(self, gauge: str = gauges.HEAP_USED, *, mib: float, seed: int) -> "Run":
        """The gauge varies by up to so much in either direction."""
        rng = np.random.default_rng(seed)
        return self._add(gauge, rng.uniform(-mib, mib, self.rounds + 1))

    def gaussian_noise(self, gauge: str = gauges.HEAP_USED, *, mib: float, seed: int) -> "Run":
        """The gauge varies with this standard deviation."""
        rng = np.random.default_rng(seed)
        return self._add(gauge, rng.normal(0, mib, self.rounds + 1))

    def leaves_garbage(self, *, mib: float) -> "Run":
        """Every round leaves so much for the collector."""
        return replace(self, garbage_bytes=self.garbage_bytes + mib * _MIB)

    def collects(self, at: Iterable[int]) -> "Run":
        """The collector is run as an experiment after these rounds."""
        return replace(self, collected_at=self.collected_at | frozenset(at))

    def lacks(self, *names: str) -> "Run":
        """These gauges were not measured."""
        return replace(self, missing=self.missing | frozenset(names))

    def measured_at_start(self) -> "Run":
        """There is a sample at ordinal 0, from before the first round."""
        return replace(self, has_start=True)

    def thinned(self) -> "Run":
        """Of a long run only some rounds were kept: the first 128, then every 2nd, every 4th."""
        return replace(self, is_thinned=True)

    def timeline(self) -> Timeline:
        """The recording of this run alone."""
        return together(self)

    @property
    def _ordinals(self) -> Rounds:
        return np.arange(self.rounds + 1, dtype=np.float64)

    def _add(self, gauge: str, mib: Rounds) -> "Run":
        so_far = self.changes.get(gauge, np.zeros(self.rounds + 1))
        return replace(self, changes={**self.changes, gauge: so_far + mib * _MIB})


def a_run(
    epochs: int = 12,
    *,
    unit: str = "epoch",
    where: str | None = None,
    start_s: float = 0.0,
    seconds: float = 60.0,
) -> Run:
    """A run of so many rounds in which nothing has happened yet."""
    return Run(epochs, Unit(1, unit, where), start_s, seconds)


def together(*runs: Run) -> Timeline:
    """One recording of several units; each tells its own view of the same memory."""
    recorded = [
        _record(replace(run, unit=replace(run.unit, id=number)))
        for number, run in enumerate(runs, start=1)
    ]
    samples = [sample for some, _ in recorded for sample in some]
    collections = [collection for _, some in recorded for collection in some]
    return Timeline(
        units=tuple(replace(run.unit, id=number) for number, run in enumerate(runs, start=1)),
        samples=tuple(sorted(samples, key=lambda one: one.elapsed_s)),
        collections=tuple(sorted(collections, key=lambda one: one.elapsed_s)),
    )


class FakeProbe:
    """A probe that gives these answers, one after the other, and then the last for ever."""

    def __init__(self, name: str, *answers: Reading | NotMeasured) -> None:
        """Prepare the answers."""
        self.name = name
        self._answers = answers or (NotMeasured("this fake was given no answers"),)
        self.reads = 0

    def read(self) -> Reading | NotMeasured:
        """The next answer."""
        self.reads += 1
        return self._answers[min(self.reads, len(self._answers)) - 1]


def _record(run: Run) -> tuple[list[Sample], list[Collection]]:
    samples, collections = [], []
    waiting, kept = 0.0, _kept(run)
    for ordinal in range(run.rounds + 1):
        waiting += run.garbage_bytes if ordinal else 0.0
        sample = _sample(run, ordinal, waiting)
        if ordinal in kept:
            samples.append(sample)
        if ordinal in run.collected_at:
            collections.append(_collection(sample, waiting))
            waiting = 0.0
    return samples, collections


def _sample(run: Run, ordinal: int, waiting: float) -> Sample:
    seen = {name: mib * _MIB for name, mib in _LEVELS_MIB.items()}
    seen[gauges.PYTHON_BLOCKS] = _PYTHON_BLOCKS
    for name, values in run.changes.items():
        seen[name] = seen.get(name, 0) + round(float(values[ordinal]))
    seen[gauges.HEAP_USED] += round(waiting)
    seen[gauges.RSS_ANON] = seen.get(gauges.RSS_ANON, 0) + _resident(seen)
    elapsed_s = run.start_s + run.seconds * ordinal / run.rounds if run.rounds else run.start_s
    kept = {name: value for name, value in seen.items() if name not in run.missing}
    return Sample(run.unit.id, ordinal, elapsed_s, kept)


def _resident(seen: Mapping[str, int]) -> int:
    malloc = seen[gauges.HEAP_USED] + seen[gauges.MMAP_USED] + seen[gauges.HEAP_FREE]
    return malloc + gauges.python_bytes(seen) + _REMAINDER_MIB * _MIB


def _collection(sample: Sample, waiting: float) -> Collection:
    before = gauges.in_use_bytes(sample.gauges) or 0
    return Collection(
        sample.unit_id, sample.ordinal, sample.elapsed_s, before, before - round(waiting)
    )


def _kept(run: Run) -> set[int]:
    kept = set(range(0 if run.has_start else 1, run.rounds + 1))
    if run.is_thinned:
        kept = {one for one in kept if one % _every(one) == 0}
    return kept


def _every(ordinal: int) -> int:
    """How sparse the rounds are there: 1 up to round 128, 2 up to 256, 4 up to 512."""
    return 1 << max(0, (ordinal - 1).bit_length() - 7) if ordinal > 0 else 1


# What the censuses of a run have seen: paths that grew, and counts that rose.

CENSUSES_AT = (4, 6, 8)


def an_evidence(  # noqa: PLR0913 - each is one fact of the story
    *seen: Holder | Tally,
    kind: Kind = Kind.LEAK,
    unit: str = "epoch",
    where: str | None = None,
    mib: float = 4.0,
    censuses_at: tuple[int, ...] = CENSUSES_AT,
    ledger: Ledger | None = None,
    environment: Mapping[str, str] | None = None,
) -> Evidence:
    """A run that was looked at after these rounds, and grew by `mib` in each."""
    grown = round(mib * _MIB)
    round_trip = Unit(1, unit, where)
    return Evidence(
        Verdict(kind, "it was told so", round_trip, 12, grown if kind is Kind.LEAK else None),
        tuple(
            Census(1, at, float(at), 0.1, 100 * _MIB + at * grown, 300_000) for at in censuses_at
        ),
        tuple(one for one in seen if isinstance(one, Holder)),
        tuple(one for one in seen if isinstance(one, Tally)),
        environment or {"tensorflow": "2.21.0"},
        ledger or Ledger(),
    )


def a_holder(  # noqa: PLR0913 - each is one fact of the story
    *steps: Step,
    grows: str,
    mib: float = 4.0,
    items: float = 1,
    added_at: str | None = None,
    is_memo: bool = False,
    is_users: bool = True,
) -> Holder:
    """A path whose object at the edge `grows` has so many more items and MiB in each round."""
    return Holder(
        steps,
        container=next(i for i, step in enumerate(steps) if step.edge == grows),
        counts=tuple(round(items * at) for at in CENSUSES_AT),
        sizes_bytes=tuple(round(mib * _MIB * at) for at in CENSUSES_AT),
        grown_bytes=round(mib * _MIB * (CENSUSES_AT[-1] - CENSUSES_AT[0])),
        sites=(GrowthSite(added_at, "…", is_memo),) if added_at else (),
        is_users=is_users,
    )


def a_tally(  # noqa: PLR0913 - the fields of a tally
    kind: str,
    name: str = "",
    *,
    each: float = 1,
    where: str | None = None,
    about: str = "",
    start: int = 1,
) -> Tally:
    """A count that rises by so much in each round; with `each=0` it stays."""
    counts = tuple(start + round(each * at) for at in CENSUSES_AT)
    return Tally(kind, name, counts, where, about)


def a_step(edge: str, kind: str, *bases: str, about: str = "", where: str | None = None) -> Step:
    """One object on a path: how it is reached, its class, and what else it is an instance of."""
    return Step(edge, kind, (kind, *bases), about, where)


def a_module(name: str = "__main__") -> Step:
    """A module as the root of a path."""
    return a_step("", "module", about=name)


def a_running_call(name: str = "fit", where: str = "train.py:22") -> Step:
    """A running call as the root of a path."""
    return a_step("", "frame", about=f"{name}()", where=where)


def an_array(edge: str = "[*]", about: str = "float32 (4096, 256)") -> Step:
    """A NumPy array."""
    return a_step(edge, "numpy.ndarray", about=about)


def a_model(edge: str = "[*]") -> Step:
    """A Keras model."""
    bases = ("keras.src.models.functional.Functional", "keras.src.models.model.Model")
    return a_step(edge, "keras.src.models.sequential.Sequential", *bases)


def findings_in(text: str, **modules: str) -> list[SourceFinding]:
    """What `lowwater check` finds in a file with this text, beside modules of these names.

    >>> [one.code for one in findings_in("import keras")]
    []
    """
    from lowwater.check.judge import find
    from lowwater.check.project import Project
    from lowwater.check.words import WordSearch

    texts = {f"{name}.py": inspect.cleandoc(module) for name, module in modules.items()}

    def path_of(dotted: str, importer: str, level: int) -> str | None:  # noqa: ARG001
        path = f"{dotted}.py"
        return path if path in texts else None

    own = inspect.cleandoc(text)
    look = WordSearch(path_of, lambda path: texts[path].encode())
    project = Project(path_of, texts.__getitem__)
    return find(project.add("train.py", own), project, look.codes("train.py", own.encode()))
