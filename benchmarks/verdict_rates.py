"""How often the verdict is right under noise: generated runs whose truth is known.

The series that the verdict gets wrong stand in the table too: they are its known weaknesses.
"""

import argparse
from collections import Counter
from collections.abc import Callable

from lowwater.model import Kind
from lowwater.testing import Run, a_run
from lowwater.verdict import judge

Build = Callable[[int], Run]

SERIES: dict[str, Build] = {
    "leak, 0.2 MiB per epoch under ±5 MiB, 60 epochs": lambda seed: (
        a_run(60).grows(mib=0.2).noise(mib=5, seed=seed)
    ),
    "the same noise without the leak": lambda seed: a_run(60).noise(mib=5, seed=seed),
    "leak, 4 MiB per epoch, noise sd 2, 12 epochs": lambda seed: (
        a_run(12).grows(mib=4).gaussian_noise(mib=2, seed=seed)
    ),
    "noise alone, sd 2.5, 12 epochs": lambda seed: a_run(12).gaussian_noise(mib=2.5, seed=seed),
    "one step of 40 MiB, noise sd 2, 16 epochs": lambda seed: (
        a_run(16).jumps(mib=40, at=9).gaussian_noise(mib=2, seed=seed)
    ),
    "cache over 5 of 14 epochs, noise sd 2": lambda seed: (
        a_run(14).fills(mib=60, until=5).gaussian_noise(mib=2, seed=seed)
    ),
    "cache over 10 of 14 epochs, noise sd 5": lambda seed: (
        a_run(14).fills(mib=60, until=10).gaussian_noise(mib=5, seed=seed)
    ),
}


def main() -> None:
    """Judge each kind of run many times and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=300)
    count = parser.parse_args().runs
    print(f"| {count} runs each | leak | not a leak | inconclusive |\n|---|---|---|---|")
    for name, build in SERIES.items():
        kinds = Counter(judge(build(seed).timeline())[0].kind for seed in range(count))
        leaks, unsure = kinds[Kind.LEAK], kinds[Kind.INCONCLUSIVE]
        print(f"| {name} | {leaks} | {count - leaks - unsure} | {unsure} |")


if __name__ == "__main__":
    main()
