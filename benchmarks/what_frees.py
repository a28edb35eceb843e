"""What really frees memory: every piece of common advice, measured, and written to a page.

Each cell of the tables is a process of its own: a few models are built, fitted and forgotten,
and the advice is followed after each. `programs/give_back_loop.py` is that loop, and
`what_frees_page.py` the page. Nothing is asserted; the tests do that.

$ python benchmarks/what_frees.py                                  # all, and write the page
$ python benchmarks/what_frees.py --only collect --rounds 3        # some, printed only
"""

import argparse
import importlib.metadata
import json
import os
import platform
import runpy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
READINGS = runpy.run_path(str(HERE / "clean_process.py"))["readings"]
PAGE = runpy.run_path(str(HERE / "what_frees_page.py"))
RESULTS = PAGE["KEPT"]
DISTRIBUTIONS = "tensorflow tensorflow-cpu keras jax torch numpy psutil".split()
# Half a minute or more for each model, on two cores.
ROUNDS = {"mobilenet": 2}
# A process that ends keeps nothing, and each of them takes seconds to start.
ROUNDS_APART = 3
TIME_LIMIT_S = 300


def planned() -> Iterator[tuple[str, str, str]]:
    """Program, backend and advice of every cell."""
    for table in PAGE["PLAN"]["TABLES"]:
        for advice in table.advice:
            yield table.program, table.backend, advice


def measure(program: str, backend: str, advice: str, rounds: int | None) -> dict[str, Any]:
    """One cell: the readings of a clean process, or the reason why there are none."""
    cell: dict[str, Any] = {"program": program, "backend": backend, "advice": advice}
    count = rounds or (ROUNDS_APART if advice == "subprocess" else ROUNDS.get(program, 6))
    # What is taken once by MobileNetV2 is little beside what stays; on JAX nothing stays, and it
    # takes 2.6 MB in its second round.
    is_short = advice == "subprocess" or (program in ROUNDS and backend != "jax")
    warm_up = 1 if is_short else 2
    place = (program, backend, advice)
    return cell | READINGS(place, rounds=count, warm_up=warm_up, limit_s=TIME_LIMIT_S)


def surroundings() -> dict[str, Any]:
    """What a reader needs to judge the numbers; no date, for the versions say more."""
    versions = {}
    for name in DISTRIBUTIONS:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "schema": "lowwater.what_frees/1",
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "versions": versions,
    }


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, help="the same for all; default: 6, for MobileNet 2")
    parser.add_argument("--only", help="cells whose `program backend advice` contains this text")
    parser.add_argument("--write", action="store_true", help="keep the results of --only, too")
    parser.add_argument("--page-only", action="store_true", help="write the page from the results")
    return parser.parse_args()


def merged(known: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The new cells, and the old ones that the same versions on the same machine have given.

    A backend that is not installed now does not undo what was measured when it was.
    """
    if not _is_comparable(known, new):
        return dict(new)
    cells = {_place(cell): cell for cell in known["cells"]}
    for cell in new["cells"]:
        if "not_measured" not in cell or "rounds" not in cells.get(_place(cell), ()):
            cells[_place(cell)] = cell
    versions = {"versions": known["versions"] | new["versions"]}
    return {**new, **versions, "cells": [cells[place] for place in planned() if place in cells]}


def _is_comparable(known: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    same = all(known.get(name) == new[name] for name in ("schema", "python", "system", "cores"))
    old, now = known.get("versions", {}), new["versions"]
    return same and all(old[name] == now[name] for name in old.keys() & now.keys())


def _place(cell: Mapping[str, Any]) -> tuple[str, str, str]:
    return cell["program"], cell["backend"], cell["advice"]


def _kept() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def main() -> None:
    """Measure the cells one after the other; keep the numbers and write the page."""
    asked = arguments()
    if asked.page_only:
        PAGE["write"](_kept())
        return
    chosen = [place for place in planned() if (asked.only or "") in " ".join(place)]
    keeps = asked.write or not (asked.only or asked.rounds)
    results = surroundings() | {"cells": []}
    RESULTS.parent.mkdir(exist_ok=True)
    for place in chosen:
        results["cells"].append(measure(*place, asked.rounds))
        if keeps:  # what is measured stays, also if the next one is interrupted
            RESULTS.write_text(json.dumps(merged(_kept(), results), indent=1) + "\n")
    if keeps:
        PAGE["write"](_kept())
    else:
        print(PAGE["all_tables"](results))


if __name__ == "__main__":
    main()
