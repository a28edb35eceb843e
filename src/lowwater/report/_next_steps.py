"""What to type next: a few concrete steps for each kind of verdict."""

from collections.abc import Callable, Iterator
from typing import Final

from lowwater.model import Diagnosis, Finding, Kind, MendState
from lowwater.model.gauges import GRADIENTS, HOST
from lowwater.model.plural import plural
from lowwater.model.printable import one_line
from lowwater.report._after_failure import after_a_failure, is_all_told
from lowwater.report._guard import continuing
from lowwater.report._step import NextStep
from lowwater.report._words import counted, unit_of

SCRIPT_KEY: Final = "script"
_UNKNOWN_SCRIPT: Final = "YOUR_SCRIPT.py"
# The first finding explains most; a second one is fixed in the same sitting.
_MOST_FIXED: Final = 2
_NATIVE: Final = "LW404"
_REGISTRY: Final = "LW205"
_PER_ROUND: Final = "LW207"
_TRIM: Final = "import psutil; psutil.heap_trim()"


def next_steps(diagnosis: Diagnosis) -> tuple[NextStep, ...]:
    """The steps for this diagnosis, most useful first, without what its findings have said."""
    steps = _STEPS_OF[diagnosis.verdict.kind](diagnosis) if not is_all_told(diagnosis) else ()
    found = {finding.code for finding in diagnosis.findings}
    useful = [step for step in steps if not step.said_by & found]
    # A leak is fixed first: what is continued would end in the same way.
    fixes = int(diagnosis.verdict.kind is Kind.LEAK)
    return (
        *after_a_failure(diagnosis),
        *useful[:fixes],
        *continuing(diagnosis),
        *useful[fixes:],
    )


def _leak(diagnosis: Diagnosis) -> Iterator[NextStep]:
    told = [finding for finding in diagnosis.findings if finding.share][:_MOST_FIXED]
    told = told or [*diagnosis.findings[:1]]
    yield _fix(told) if told else _search(diagnosis)
    if all(finding.code == _NATIVE for finding in told):
        yield NextStep(
            "Run short experiments that leave out one part at a time:",
            f"lowwater diagnose {_script(diagnosis)}",
        )
    yield from _gradient_registry(diagnosis)
    yield NextStep(
        "After a change, check again (exits with status 3 while it leaks):",
        f"{_run(diagnosis)} --fail-on leak {_script(diagnosis)}",
    )


def _fix(findings: list[Finding]) -> NextStep:
    first, *others = dict.fromkeys(map(_task, findings))
    tasks = ", and ".join([first, *(f"{task[:1].lower()}{task[1:]}" for task in others)])
    return NextStep(f"{one_line(tasks)} (see above).")


def _task(finding: Finding) -> str:
    if finding.library:
        return f"Work around {finding.code}, a leak in {finding.library}"
    if finding.code == _NATIVE:
        return "Find the part of the loop that allocates native memory"
    return f"Fix {finding.where or finding.code}"


def _search(diagnosis: Diagnosis) -> NextStep:
    unit = unit_of(diagnosis.verdict)
    who = unit.where or f"each {unit.name}"
    per = f" per {unit.name}" if unit.where else ""
    return NextStep(
        f"Look at what {who} keeps{per}: a list, a dict or a callback attribute that grows and "
        "is never emptied, or a model that is never dropped."
    )


def _gradient_registry(diagnosis: Diagnosis) -> Iterator[NextStep]:
    verdict = diagnosis.verdict
    first, last = diagnosis.ledger.counts.get(GRADIENTS, (0, 0))
    # The epochs of one `fit` share one model, whose first trace fills the registry once.
    if unit_of(verdict).name == "epoch" or last - first < max(1, verdict.units_seen):
        return
    if any(one.state is MendState.APPLIED for one in diagnosis.mended if one.code == _REGISTRY):
        return
    yield NextStep(
        f"If each {unit_of(verdict).name} builds a model: on TensorFlow up to 2.21, `del`, "
        "`clear_session()` and `gc.collect()` do not free it, because TensorFlow's gradient "
        f"registry keeps every traced graph ({first:,} → {last:,} entries). To repair this, call "
        "`lowwater.mend()` at the top of the script.",
        said_by=frozenset({_REGISTRY, _PER_ROUND}),
    )


def _inconclusive(diagnosis: Diagnosis) -> Iterator[NextStep]:
    verdict, script = diagnosis.verdict, _script(diagnosis)
    # A program that ends by itself does not run longer for being watched again.
    if diagnosis.ending is not None and diagnosis.ending.is_broken_off:
        yield NextStep("Then check again:", f"{_run(diagnosis)} {script}")
        return
    if verdict.more_units_needed:
        more = counted(verdict.more_units_needed, f"more {unit_of(verdict).name}")
        yield NextStep(f"Run it for at least {more}:", f"{_run(diagnosis)} {script}")
    elif verdict.unit is None:
        yield NextStep(
            "Watch a program that repeats something: `fit` epochs, `predict` calls, or a loop. "
            "This demo leaks on purpose:",
            "lowwater demo",
        )
    else:
        longer = f"Run it for more {plural(unit_of(verdict).name)}; 12 are enough for most leaks:"
        yield NextStep(longer, f"{_run(diagnosis)} {script}")
    if diagnosis.ledger.unmeasured:
        yield NextStep("See what can be measured on this machine:", "lowwater doctor")


def _reserved(diagnosis: Diagnosis) -> Iterator[NextStep]:
    # The finding knows whose pool it is, and so what returns it.
    said_by = frozenset({"LW401"})
    yield NextStep(
        "Nothing to fix: this memory is free, and the program will reuse it.", said_by=said_by
    )
    if diagnosis.verdict.place != HOST:
        yield NextStep(
            "It is returned only when the process ends. To reserve no more than needed, call this "
            "for each `gpu` before the first model:",
            "tf.config.experimental.set_memory_growth(gpu, True)",
            said_by=frozenset({"LW405"}),
        )
        return
    yield NextStep(
        "To return it to the system anyway (TensorFlow's own pool, if enabled, is returned only "
        "when the process ends):",
        _TRIM,
        said_by=said_by,
    )
    yield _guard(diagnosis)


def _fragmented(diagnosis: Diagnosis) -> Iterator[NextStep]:
    script = _script(diagnosis)
    yield NextStep(
        f"Return it to the system after each {unit_of(diagnosis.verdict).name} (in one measured "
        "program, growth fell from 8.6 to 0.03 MB per epoch):",
        _TRIM,
    )
    yield NextStep(
        "If `tf.data` threads cause it (helps little otherwise):",
        f"MALLOC_ARENA_MAX=1 {_run(diagnosis)} {script}",
    )
    yield NextStep(
        "Or use another allocator (there, growth fell from 8.6 to 2.6 MB):",
        f"LD_PRELOAD=libjemalloc.so.2 {_run(diagnosis)} {script}",
    )


def _cache(diagnosis: Diagnosis) -> Iterator[NextStep]:
    yield NextStep(
        "Nothing to fix while it fits: it has stopped growing.", said_by=frozenset({"LW301"})
    )
    yield _guard(diagnosis)


def _sawtooth(diagnosis: Diagnosis) -> Iterator[NextStep]:
    yield NextStep(
        "No leak to fix. If the peaks are too high, call `model(x)` instead of `predict` in "
        "loops, or collect garbage more often:",
        "import gc; gc.collect()",
        said_by=frozenset({"LW108"}),
    )
    yield _guard(diagnosis)


def _trickle(diagnosis: Diagnosis) -> Iterator[NextStep]:
    unit = unit_of(diagnosis.verdict).name
    yield NextStep(
        f"Nothing to fix, unless the program runs for a large number of {plural(unit)}. A longer "
        "run shows whether it is a slow leak:",
        f"{_run(diagnosis)} {_script(diagnosis)}",
    )


def _all_is_well(diagnosis: Diagnosis) -> Iterator[NextStep]:
    yield _guard(diagnosis, "No leak to fix. ")


def _guard(diagnosis: Diagnosis, before: str = "") -> NextStep:
    return NextStep(
        f"{before}To catch future leaks, add this to your tests (exits with status 3 on a leak):",
        f"{_run(diagnosis)} --fail-on leak {_script(diagnosis)}",
    )


def _run(diagnosis: Diagnosis) -> str:
    """The command as it was given: what was mended leaks again without it."""
    return "lowwater run --mend" if diagnosis.mended else "lowwater run"


def _script(diagnosis: Diagnosis) -> str:
    """The script as it is typed after `lowwater run`."""
    return one_line(diagnosis.environment.get(SCRIPT_KEY) or _UNKNOWN_SCRIPT)


_STEPS_OF: Final[dict[Kind, Callable[[Diagnosis], Iterator[NextStep]]]] = {
    Kind.LEAK: _leak,
    Kind.CACHE: _cache,
    Kind.RESERVED: _reserved,
    Kind.FRAGMENTED: _fragmented,
    Kind.WARM_UP: _all_is_well,
    Kind.SAWTOOTH: _sawtooth,
    Kind.TRICKLE: _trickle,
    Kind.FLAT: _all_is_well,
    Kind.INCONCLUSIVE: _inconclusive,
}
