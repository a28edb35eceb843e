"""How right the verdict is after each round: every recording, cut short and resampled.

Nothing is asserted here; tests/test_replay.py does that. This prints what is so.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from replay.measure import Answer, Outcome, copies, differs, flaps, prefixes, whole
from replay.recordings import RECORDINGS, Recorded, recordings

FROM_ROUNDS = (5, 6, 7, 8, 9, 10, 11, 12, 16, 24, 50, 100, 200)


@dataclass(frozen=True)
class Replayed:
    """All answers on one recording."""

    recorded: Recorded
    whole: Answer
    prefixes: tuple[Answer, ...]
    copies: tuple[Answer, ...]


def replay(recorded: Recorded) -> Replayed:
    """Ask for all answers."""
    answers = tuple(prefixes(recorded)), tuple(copies(recorded))
    return Replayed(recorded, whole(recorded), *answers)


def table(answers: Iterable[Answer]) -> list[str]:
    """Right, inconclusive and wrong by the number of rounds."""
    counts: dict[int, Counter[Outcome]] = {at_least: Counter() for at_least in FROM_ROUNDS}
    for answer in answers:
        at_least = max(one for one in FROM_ROUNDS if one <= answer.rounds)
        counts[at_least][answer.outcome] += 1
    head = " | ".join(Outcome)
    rows = [f"| rounds | prefixes | {head} |", "|---" * (len(Outcome) + 2) + "|"]
    for at_least, found in counts.items():
        cells = " | ".join(str(found[outcome]) for outcome in Outcome)
        rows.append(f"| {_named(at_least)} | {found.total()} | {cells} |")
    return rows


def _named(at_least: int) -> str:
    following = [one for one in FROM_ROUNDS if one > at_least]
    if not following:
        return f"{at_least} and more"
    return str(at_least) if following[0] == at_least + 1 else f"{at_least} to {following[0] - 1}"


def lists(replayed: list[Replayed]) -> dict[str, list[Answer]]:
    """All that is not as it should be, by what is wrong with it."""
    every = [answer for one in replayed for answer in one.prefixes]
    wholes = [one.whole for one in replayed]
    return {
        "wrong at the end of the run": [a for a in wholes if a.outcome is Outcome.WRONG],
        "inconclusive at the end of the run": [
            a for a in wholes if a.outcome is Outcome.INCONCLUSIVE
        ],
        "wrong prefixes": [a for a in every if a.outcome is Outcome.WRONG],
        "leaks that are taken back": [a for one in replayed for a in flaps(one.prefixes)],
        "intervals without the stated rate": [a for a in (*every, *wholes) if a.misses_rate],
        "fills that are acquitted late": [a for a in every if a.is_late],
        "copies that are judged otherwise": [
            copy for one in replayed for copy in one.copies if differs(copy, one.whole)
        ],
    }


def main() -> None:
    """Replay the recordings and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recordings", type=Path, default=RECORDINGS)
    parser.add_argument("--only", default="", help="specimens whose names contain this text")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true", help="print the curve of each run")
    options = parser.parse_args()
    start_s = time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        found = recordings(options.recordings, options.only)
        replayed = list(pool.map(replay, found, chunksize=4))
    if options.verbose:
        _print_curves(replayed)
    _print_tables(replayed)
    took_s = time.monotonic() - start_s
    for what, answers in lists(replayed).items():
        runs = len({answer.recorded for answer in answers})
        print(f"\n{what}: {len(answers)}, in {runs} of {len(replayed)} runs")
        for answer in answers:
            print(f"- {answer}")
    print(f"\n{len(replayed)} recordings in {took_s:.1f} s")


def _print_tables(replayed: list[Replayed]) -> None:
    for is_leak, title in ((True, "leaks"), (False, "innocents")):
        runs = [one for one in replayed if one.whole.truth.is_leak is is_leak]
        print(f"\n{title}: {len(runs)} runs\n")
        for row in table(answer for one in runs for answer in one.prefixes):
            print(row)


def _print_curves(replayed: list[Replayed]) -> None:
    for one in replayed:
        marks = " ".join(f"{a.rounds}:{a.outcome[0]}" for a in one.prefixes)
        print(f"{one.recorded}: {marks}; whole: {one.whole.outcome}")


if __name__ == "__main__":
    main()
