"""What each threshold does: every field of the policy halved and doubled, and what changes then.

Judged are the recordings of tests/recordings (whole, and cut after a few rounds), and generated
runs. Suspicion is asked when it would collect in these recordings. What the brake does depends on
the processor, so it cannot be replayed. Nothing is asserted here.
"""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from verdict_rates import SERIES  # noqa: E402

from lowwater.gauges import in_use_bytes  # noqa: E402
from lowwater.model import Kind, Timeline  # noqa: E402
from lowwater.policy import POLICY  # noqa: E402
from lowwater.session import diagnose  # noqa: E402
from lowwater.suspicion import Suspicion  # noqa: E402
from lowwater.verdict import judge  # noqa: E402
from replay.measure import unit_of, verdict_on  # noqa: E402
from replay.recordings import RECORDINGS, Recorded, recordings  # noqa: E402
from replay.transforms import cut  # noqa: E402

PREFIXES = (5, 6, 8, 10, 12)
SEEDS = range(30)
NOT_REPLAYED = {"credit_s", "share", "overdraft", "most_censuses"}
FACTORS = (0.5, 2.0)


@dataclass(frozen=True)
class Said:
    """All answers under one policy, by the name of the question."""

    kinds: dict[str, Kind]
    wrong: frozenset[str]
    findings: dict[str, tuple[str, ...]]
    collected: dict[str, tuple[int, ...]]


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


def ask(run: str) -> Said:
    """Judge everything with the policy as it is now."""
    kinds, wrong, findings, collected = {}, set(), {}, {}
    for name, truth, timeline in corpus(run):
        verdict = verdict_on(timeline)
        kinds[name] = verdict.kind
        if verdict.is_leak is (not truth):
            wrong.add(name)
        if " after " not in name:
            told = diagnose(timeline).findings
            findings[name] = tuple(f"{one.code} {one.where}" for one in told)
            collected[name] = _collected(timeline)
    for name, build in SERIES.items():
        is_leak = name.startswith("leak")
        for seed in SEEDS:
            key = f"{name} #{seed}"
            verdict = judge(build(seed).timeline())[0]
            kinds[key] = verdict.kind
            if verdict.is_leak is (not is_leak):
                wrong.add(key)
    return Said(kinds, frozenset(wrong), findings, collected)


def _collected(timeline: Timeline) -> tuple[int, ...]:
    """The samples at which suspicion asks for a collection that gives nothing back."""
    suspicion, at = Suspicion(POLICY, POLICY.most_censuses), []
    for index, sample in enumerate(sorted(timeline.samples, key=lambda one: one.elapsed_s)):
        level = in_use_bytes(sample.gauges)
        if level is not None and suspicion.wants_collection(sample.unit_id, sample.ordinal, level):
            suspicion.collected(sample.unit_id, level)
            at.append(index)
    return tuple(at)


def varied(change: tuple[str, float], run: str) -> tuple[str, float, object, Said]:
    """All answers with one field changed."""
    name, factor = change
    before = getattr(POLICY, name)
    value = before * factor if isinstance(before, float) else max(1, round(before * factor))
    try:
        object.__setattr__(POLICY, name, value)
        return name, factor, value, ask(run)
    finally:
        object.__setattr__(POLICY, name, before)


def _differ(some: dict[str, Any], others: dict[str, Any]) -> int:
    return sum(some[key] != value for key, value in others.items())


def main() -> None:
    """Print a line for each field."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--run", default="quiet", help="which recording of each specimen")
    parser.add_argument("--only", default="", help="fields that contain this text")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    base = ask(options.run)
    names = [one.name for one in fields(POLICY) if options.only in one.name]
    changes = [(name, factor) for name in names if name not in NOT_REPLAYED for factor in FACTORS]
    print(f"{len(base.kinds)} answers, {len(base.wrong)} wrong with the policy as it is.\n")
    print("| field | value | verdicts that change | wrong | findings | collections |")
    print("|---|---|---|---|---|---|")
    idle = dict.fromkeys(names, True)
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, _, value, said in pool.map(partial(varied, run=options.run), changes):
            changed = _differ(said.kinds, base.kinds)
            told = _differ(said.findings, base.findings)
            moved = _differ(said.collected, base.collected)
            idle[name] &= not (changed or told or moved)
            row = (name, f"{value:g}", changed, len(said.wrong), told, moved)
            print(f"| {' | '.join(map(str, row))} |", flush=True)
    unused = [name for name, is_idle in idle.items() if is_idle and name not in NOT_REPLAYED]
    print(f"\nChange nothing, halved or doubled: {', '.join(unused) or 'none'}.")
    print(f"Not replayed: {', '.join(sorted(NOT_REPLAYED))}.")


if __name__ == "__main__":
    main()
