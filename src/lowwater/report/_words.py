"""Words that all reports share: plurals, places and endings."""

import signal
from dataclasses import replace
from typing import Final

from lowwater.model import Ending, Unit, Verdict
from lowwater.model.gauges import FUNCTIONS, GRADIENTS, HOST, MODELS, SESSIONS
from lowwater.model.plural import plural
from lowwater.model.printable import one_line
from lowwater.model.units import format_bytes, format_duration
from lowwater.verdict.words import one

COUNT_NAMES: Final = {
    MODELS: "models alive",
    SESSIONS: "sessions open",
    FUNCTIONS: "traced functions",
    GRADIENTS: "gradient-registry entries",
}
NO_UNIT: Final = Unit(id=-1, name="round trip")


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    text = text.strip()
    ends = text.endswith((".", "!", "?", ":"))
    return text[:1].upper() + text[1:] + ("" if ends or not text else ".")


def counted(count: int, name: str) -> str:
    """`1 epoch`, `12 epochs`, `3 batches`, `1,000 fit calls`."""
    return f"{count:,} {name if count == 1 else plural(name)}"


def unit_of(verdict: Verdict) -> Unit:
    """The unit that was judged, by the name that is shown, or a stand-in where there was none."""
    unit = verdict.unit or NO_UNIT
    is_built = unit.name in ("model", "session")
    return unit if is_built else replace(unit, name=one(unit))


def memory_of(place: str) -> str:
    """`host memory`, `GPU:0 memory`."""
    return f"{HOST if place == HOST else place} memory"


def seen(verdict: Verdict) -> str:
    """`12 epochs seen`, `no round trips seen`."""
    name = unit_of(verdict).name
    if not verdict.units_seen:
        return f"no {plural(name)} seen"
    return f"{counted(verdict.units_seen, name)} seen"


def signal_name(number: int) -> str:
    """`SIGKILL` for 9; a number that has no name stays a number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def ending_sentence(ending: Ending) -> str | None:
    """How the program ended, or None where it ended well."""
    if ending.exit_code == 0 and ending.signal is None and not ending.out_of_memory:
        return None
    peak = ending.peak_rss_bytes
    told = "" if peak is None else f"; its resident memory peaked at {format_bytes(peak)}"
    return f"The program {_how(ending)} after {format_duration(ending.elapsed_s)}{told}."


def error_sentence(ending: Ending) -> str | None:
    """The exception that ended the script, in its own words; None where there was none."""
    if ending.error is None:
        return None
    what = "The program ran out of memory" if ending.out_of_memory else "The script failed"
    return sentence(one_line(f"{what}: {ending.error}"))


def _how(ending: Ending) -> str:
    if ending.signal is not None:
        return _killed(signal_name(ending.signal), out_of_memory=ending.out_of_memory)
    code = "an unknown exit code" if ending.exit_code is None else f"exit code {ending.exit_code}"
    before = "ran out of memory and " if ending.out_of_memory and ending.error is None else ""
    return f"{before}ended with {code}"


def _killed(name: str, *, out_of_memory: bool) -> str:
    if out_of_memory:
        return f"was killed because memory ran out ({name})"
    if name == "SIGINT":
        return f"was interrupted ({name})"
    hint = " (often a sign that memory ran out)" if name == "SIGKILL" else ""
    return f"was killed by {name}{hint}"
