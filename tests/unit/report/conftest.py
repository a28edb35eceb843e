"""Diagnoses to tell: small ones for the details, judged ones for the golden files."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lowwater.model import (
    Diagnosis,
    Ending,
    Finding,
    Kind,
    Ledger,
    LedgerRow,
    Overhead,
    Status,
    TraceNode,
    Unit,
    Verdict,
)
from replay.screens import SCREENS, screen_of

MIB = 1 << 20
TIMES = "\N{MULTIPLICATION SIGN}"
GOLDEN = Path(__file__).parents[2] / "golden"
EPOCH = Unit(0, "epoch")
LOOP = Unit(1, "iteration", "train.py:20")
ENDED_WELL = Ending(elapsed_s=42.0, exit_code=0, peak_rss_bytes=600 * MIB)
SYSTEM, ALLOCATORS = "the system sees", "allocators hold"


def mib(*sizes: float) -> tuple[int, ...]:
    return tuple(round(size * MIB) for size in sizes)


def ledger(
    in_use: tuple[int, ...],
    kept: tuple[int, ...] = (),
    counts: Mapping[str, tuple[int, int]] | None = None,
    unmeasured: Mapping[str, str] | None = None,
) -> Ledger:
    """A host of 70 MiB of Python objects and 30 MiB that nobody books."""
    kept = kept or mib(*[2] * len(in_use))
    level = [1] * len(in_use)
    python, rest = mib(*[70 * one for one in level]), mib(*[30 * one for one in level])
    anonymous = tuple(map(sum, zip(in_use, kept, python, rest, strict=True)))
    rows = (
        LedgerRow(SYSTEM, "anonymous", anonymous),
        LedgerRow(SYSTEM, "file-backed", mib(*[210.4 * one for one in level])),
        LedgerRow(ALLOCATORS, "malloc, in use", in_use),
        LedgerRow(ALLOCATORS, "malloc, free but kept", kept),
        LedgerRow(ALLOCATORS, "Python objects", python, is_estimate=True),
        LedgerRow(ALLOCATORS, "remainder", rest, remark="thread stacks and other mappings"),
    )
    return Ledger(rows, unmeasured or {}, counts or {})


def diagnosis(kind: Kind, because: str, book: Ledger, unit: Unit = EPOCH) -> Diagnosis:
    verdict = Verdict(kind, because, unit, units_seen=len(book.rows[0].series))
    environment = {"script": "train.py", "python": "3.11.9"}
    is_leak = verdict.kind is Kind.LEAK
    return Diagnosis(
        verdict,
        (verdict,),
        ledger=book,
        environment=environment,
        overhead=Overhead(26, 0.004, 4 if is_leak else 0, 0.8 if is_leak else 0.0),
        ending=ENDED_WELL,
    )


def leak() -> Diagnosis:
    because = "in-use host memory rose in 10 of 10 epochs after warm-up"
    told = diagnosis(Kind.LEAK, because, ledger(mib(*range(71, 119, 4))))
    verdict = replace(
        told.verdict, growth_bytes_per_unit=4 * MIB, interval_bytes=(4_089_446, 4_299_162)
    )
    predict = Verdict(Kind.FLAT, "level", Unit(2, "predict call", "train.py:14"), 12)
    return replace(told, verdict=verdict, units=(verdict, predict))


def leak_in_a_loop_of_models() -> Diagnosis:
    because = "in-use host memory rose in 9 of 9 iterations after warm-up"
    counts = {"models": (1, 1), "functions": (24, 288), "gradients": (12, 144)}
    book = ledger(mib(*range(90, 150, 5)), counts=counts)
    told = diagnosis(Kind.LEAK, because, book, LOOP)
    verdict = replace(told.verdict, growth_bytes_per_unit=5 * MIB)
    fit = Verdict(Kind.LEAK, "", Unit(3, "fit call"), 12, growth_bytes_per_unit=5 * MIB)
    return replace(told, verdict=verdict, units=(fit, verdict))


def saved_predictions() -> Finding:
    """The leak trace that the whole project aims at."""
    needed, leaked = Status.NEEDED, Status.LEAKED
    return Finding(
        "LW101",
        "callback-retention",
        "SavePredictions.saved grows by one float32 array (4096, 256) every epoch",
        "keep a summary, not the arrays: `self.means.append(float(preds.mean()))`.",
        where="train.py:14",
        holder="SavePredictions.saved",
        share=0.98,
        bytes_per_unit=4 * MIB,
        trace=(
            TraceNode("", "model.fit(callbacks=[…])", needed, "the call is running", "train.py:22"),
            TraceNode("", "SavePredictions", needed, "callback of the running fit", "train.py:6"),
            TraceNode(
                ".saved",
                "list, 12 items (+1 per epoch)",
                leaked,
                "grew in every epoch",
                is_suspect=True,
            ),
            TraceNode("", f"ndarray float32 (4096, 256)  4.0 MiB {TIMES} 12", leaked, ""),
        ),
        fingerprint="5a1f0c9e7b3d2468",
    )


def gradient_registry(share: float = 0.97) -> Finding:
    return Finding(
        "LW205",
        "gradient-registry",
        "TensorFlow's gradient registry keeps the graphs of 12 models that are gone",
        "Run each training in a process of its own.",
        where="train.py:20",
        holder="tensorflow.python.framework.ops.gradient_registry",
        share=share,
        trace=(
            TraceNode(
                "", "module tensorflow.python.framework.ops", Status.NEEDED, "a loaded module"
            ),
            TraceNode(
                "._gradient_registry",
                "Registry, 144 entries (+12 per iteration)",
                Status.LEAKED,
                "entries of graphs that no model uses",
                is_suspect=True,
            ),
            TraceNode("[*]", "FuncGraph", Status.LEAKED, "its model is gone"),
        ),
        library="tensorflow",
        fingerprint="0dd1ba11c0ffee00",
    )


def growing_container() -> Finding:
    return Finding(
        "LW102",
        "growing-container",
        "the list `results` grows by one Sequential every iteration",
        "Keep the numbers that you need, not the model.",
        where="train.py:31",
        holder="results",
        share=0.34,
        trace=(
            TraceNode("", "module __main__", Status.NEEDED, "the program itself"),
            TraceNode(
                ".results",
                "list, 12 items (+1 per iteration)",
                Status.UNKNOWN,
                "grew in every iteration, and may be meant to",
                "train.py:8",
                is_suspect=True,
            ),
            TraceNode(
                "[*]", f"Sequential  1.7 MiB {TIMES} 12", Status.LEAKED, "its iteration is over"
            ),
        ),
        fingerprint="1f2e3d4c5b6a7988",
    )


def leak_with_a_finding() -> Diagnosis:
    told = replace(leak(), findings=(saved_predictions(),))
    return replace(told, overhead=Overhead(26, 0.004, 4, 0.8, 2, 0.4, 31.2))


def leak_with_two_findings() -> Diagnosis:
    findings = (gradient_registry(share=0.64), growing_container())
    return replace(leak_in_a_loop_of_models(), findings=findings)


def leak_of_a_library() -> Diagnosis:
    return replace(leak_in_a_loop_of_models(), findings=(gradient_registry(),))


def sawtooth_explained() -> Diagnosis:
    finding = Finding(
        "LW108",
        "waits-for-collector",
        "16.0 MiB per epoch are held in cycles until the collector runs",
        "call `gc.collect()` after each epoch if the peaks are too high.",
        where="train.py:9",
        share=0.94,
    )
    return replace(sawtooth(), findings=(finding,))


def killed_for_memory() -> Diagnosis:
    ending = Ending(95.0, exit_code=None, signal=9, out_of_memory=True, peak_rss_bytes=7 << 30)
    return replace(leak(), ending=ending, notes=("the last record was cut off and is left out",))


def reserved() -> Diagnosis:
    because = (
        "208.0 MiB were freed and are kept by malloc for reuse; "
        "bytes in use are back where they were"
    )
    in_use = mib(71, *[73] * 11)
    return diagnosis(Kind.RESERVED, because, ledger(in_use, mib(0, *[208] * 11)))


def fragmented() -> Diagnosis:
    because = "malloc keeps 8.6 MiB more per epoch though bytes in use stay level"
    kept = mib(*[8.6 * number for number in range(12)])
    return diagnosis(Kind.FRAGMENTED, because, ledger(mib(*[73] * 12), kept))


def inconclusive() -> Diagnosis:
    why = {"TensorFlow": "CPU:0 has no allocator statistics"}
    book = ledger(mib(71, 75, 79), unmeasured=why)
    told = diagnosis(Kind.INCONCLUSIVE, "3 epochs are too few to tell growth from warm-up", book)
    return replace(told, verdict=replace(told.verdict, more_units_needed=3))


def without_round_trips() -> Diagnosis:
    return Diagnosis(Verdict(Kind.INCONCLUSIVE, "the program never repeated anything"))


def killed_without_a_leak() -> Diagnosis:
    ending = Ending(95.0, exit_code=None, signal=9, peak_rss_bytes=600 * MIB)
    return replace(flat(), ending=ending)


def flat() -> Diagnosis:
    in_use = mib(88.1, 88.3, 88.2, 88.2, 88.4, 88.1, 88.3, 88.2, 88.2, 88.3, 88.2, 88.1)
    return diagnosis(Kind.FLAT, "no trend in 10 epochs after warm-up", ledger(in_use))


def warm_up() -> Diagnosis:
    because = "17.0 MiB came with the second epoch, and nothing since"
    return diagnosis(Kind.WARM_UP, because, ledger(mib(71, *[88] * 11)))


def cache() -> Diagnosis:
    because = "growth stopped after 5 of 12 epochs"
    return diagnosis(Kind.CACHE, because, ledger(mib(71, 91, 111, 131, *[151] * 8)))


def sawtooth() -> Diagnosis:
    because = "one collection gave back 16.0 of 17.0 MiB"
    return diagnosis(Kind.SAWTOOTH, because, ledger(mib(*[71, 76, 82, 88] * 3)))


MAKERS: dict[str, Callable[[], Diagnosis]] = {
    "leak": leak,
    "leak-in-a-loop-of-models": leak_in_a_loop_of_models,
    "leak-with-a-finding": leak_with_a_finding,
    "leak-with-two-findings": leak_with_two_findings,
    "leak-of-a-library": leak_of_a_library,
    "killed-for-memory": killed_for_memory,
    "reserved": reserved,
    "fragmented": fragmented,
    "inconclusive": inconclusive,
    "without-round-trips": without_round_trips,
    "killed-without-a-leak": killed_without_a_leak,
    "flat": flat,
    "warm-up": warm_up,
    "cache": cache,
    "sawtooth": sawtooth,
    "sawtooth-explained": sawtooth_explained,
}


@pytest.fixture(params=[*MAKERS, *(f"judged-{name}" for name in SCREENS)])
def case(request: pytest.FixtureRequest) -> Diagnosis:
    """Each diagnosis in turn, small or judged."""
    name = request.param.removeprefix("judged-")
    return MAKERS[name]() if name == request.param else screen_of(name)


@pytest.fixture
def told() -> Callable[[str], Diagnosis]:
    """A diagnosis by name."""
    return lambda name: MAKERS[name]()


@pytest.fixture
def expected(request: pytest.FixtureRequest) -> Callable[[str, str], str]:
    """The golden text of that name; `pytest --update-golden` makes `actual` the new one."""

    def read(name: str, actual: str) -> str:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(actual, encoding="utf-8")
        return path.read_text(encoding="utf-8")

    return read
