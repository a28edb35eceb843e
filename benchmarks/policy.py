"""What each threshold does: every field of the policy halved and doubled, and what changes then.

Judged are the recordings of tests/recordings (whole, and cut after a few rounds), and generated
runs. Suspicion is asked when it would collect in these recordings. What the brake does depends on
the processor, and censuses and experiments on the program, so they cannot be replayed: the tests of
`agent` and `diagnose` hold them. Nothing is asserted here.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from verdict_rates import SERIES  # noqa: E402

from lowwater.agent.suspicion import Suspicion  # noqa: E402
from lowwater.model import Timeline  # noqa: E402
from lowwater.model.gauges import in_use_bytes  # noqa: E402
from lowwater.model.policy import POLICY  # noqa: E402
from lowwater.supervisor.session import diagnose  # noqa: E402
from lowwater.verdict import judge  # noqa: E402
from replay.measure import unit_of, verdict_on  # noqa: E402
from replay.recordings import RECORDINGS, Recorded, recordings  # noqa: E402
from replay.transforms import cut  # noqa: E402

PREFIXES = (5, 6, 8, 10, 12)
SEEDS = range(30)
NOT_REPLAYED = {
    *("credit_s", "credit_collections", "credit_share", "share"),
    *("overdraft", "overdraft_s", "most_censuses", "second_look_bytes", "data_share"),
    *("experiment_rest", "experiment_garbage", "experiment_slack", "all_there"),
    *("told_part", "needs_partner", "finding_is_all"),
}
FACTORS = (0.5, 2.0)
VERDICT, FINDINGS, COLLECTIONS = "verdict", "findings", "collections"
OTHERS = (FINDINGS, COLLECTIONS)


@dataclass(frozen=True)
class Answer:
    """What was said to one question, and whether that is wrong."""

    about: str
    name: str
    said: Any
    is_wrong: bool = False


Said = dict[tuple[str, str], Answer]


@lru_cache(maxsize=1)
def corpus(run: str) -> tuple[tuple[str, bool, Timeline], ...]:
    """Name, truth and timeline of each recording, whole and cut."""
    return tuple(_each(run))


def _each(run: str) -> Iterator[tuple[str, bool, Timeline]]:
    for recorded in recordings(RECORDINGS):
        if recorded.run != run:
            continue
        is_leak = recorded.truth.is_leak
        yield str(recorded), is_leak, recorded.timeline()
        for rounds, shorter in _cut(recorded):
            yield f"{recorded} after {rounds}", is_leak, shorter


def _cut(recorded: Recorded) -> Iterator[tuple[int, Timeline]]:
    unit = unit_of(recorded.timeline(), recorded.truth)
    full = recorded.truth.fills_until or 0
    for rounds in PREFIXES if unit is not None else ():
        if rounds >= full:
            yield rounds, cut(recorded.timeline(), unit, rounds)


def answers(run: str) -> Iterator[Answer]:
    """Judge everything with the policy as it is now."""
    for name, truth, timeline in corpus(run):
        verdict = verdict_on(timeline)
        yield Answer(VERDICT, name, verdict.kind, verdict.is_leak is (not truth))
        if " after " not in name:
            told = diagnose(timeline).findings
            yield Answer(FINDINGS, name, tuple(f"{one.code} {one.where}" for one in told))
            yield Answer(COLLECTIONS, name, _collected(timeline))
    for name, build in SERIES.items():
        is_leak = name.startswith("leak")
        for seed in SEEDS:
            verdict = judge(build(seed).timeline())[0]
            yield Answer(VERDICT, f"{name} #{seed}", verdict.kind, verdict.is_leak is (not is_leak))


def ask(run: str) -> Said:
    """All answers, by what they are about."""
    return {(one.about, one.name): one for one in answers(run)}


def _collected(timeline: Timeline) -> tuple[int, ...]:
    """The samples at which suspicion asks for a collection that gives nothing back."""
    suspicion, at = Suspicion(POLICY, POLICY.most_censuses), []
    for index, sample in enumerate(sorted(timeline.samples, key=lambda one: one.elapsed_s)):
        level = in_use_bytes(sample.gauges)
        if level is not None and suspicion.wants_collection(sample.unit_id, sample.ordinal, level):
            suspicion.collected(sample.unit_id, level)
            at.append(index)
    return tuple(at)


def multiplied(before: float, factor: float) -> float:
    """The value with which something is tried: of shares and chances 1 is the most there is."""
    if not isinstance(before, float):
        return max(1, round(before * factor))
    return min(before * factor, 1.0) if before < 1 else before * factor


@contextmanager
def changed(name: str, factor: float) -> Iterator[str]:
    """The policy with one field multiplied; gives its new value."""
    before = getattr(POLICY, name)
    value = multiplied(before, factor)
    try:
        object.__setattr__(POLICY, name, value)
        yield f"{value:g}"
    finally:
        object.__setattr__(POLICY, name, before)


def row(change: tuple[str, float], base: Said, run: str) -> tuple[str, bool, str]:
    """The name of a field, whether it changes anything, and a line of the table."""
    name, factor = change
    with changed(name, factor) as value:
        said = ask(run)
    others = [one for key, one in said.items() if one.said != base[key].said]
    counts = Counter(one.about for one in others)
    wrong = sum(one.is_wrong for one in said.values())
    cells = (name, value, counts[VERDICT], wrong, counts[FINDINGS], counts[COLLECTIONS])
    return name, bool(others), f"| {' | '.join(map(str, cells))} |"


def first_change(change: tuple[str, float], base: Said, run: str) -> tuple[str, bool, str]:
    """The same, but only up to the first answer that is another one."""
    name, factor = change
    with changed(name, factor) as value:
        asked = answers(run)
        other = next((one for one in asked if one.said != base[one.about, one.name].said), None)
    found = f"{other.about} of {other.name}" if other is not None else "nothing"
    return name, other is not None, f"| {name} | {value} | {found} |"


def main() -> None:
    """Print a line for each field."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--run", default="quiet", help="which recording of each specimen")
    parser.add_argument("--only", default="", help="fields that contain this text")
    parser.add_argument("--first", action="store_true", help="stop at the first change: minutes")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    base = ask(options.run)
    names = [one.name for one in fields(POLICY) if options.only in one.name]
    changes = [(name, factor) for name in names if name not in NOT_REPLAYED for factor in FACTORS]
    wrong = sum(one.is_wrong for one in base.values())
    print(f"{len(base)} answers, {wrong} wrong with the policy as it is.\n")
    head = ("first change",) if options.first else (f"{VERDICT}s that change", "wrong", *OTHERS)
    print(f"| field | value | {' | '.join(head)} |\n{'|---' * (len(head) + 2)}|")
    idle = dict.fromkeys(names, True)
    look = partial(first_change if options.first else row, base=base, run=options.run)
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, has_changed, line in pool.map(look, changes):
            idle[name] &= not has_changed
            print(line, flush=True)
    unused = [name for name, is_idle in idle.items() if is_idle and name not in NOT_REPLAYED]
    print(f"\nChange nothing, halved or doubled: {', '.join(unused) or 'none'}.")
    print(f"Not replayed: {', '.join(sorted(NOT_REPLAYED))}.")


if __name__ == "__main__":
    main()
