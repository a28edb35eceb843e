"""What the golden screens tell of: recordings of specimens and told runs, judged as any other."""

from collections.abc import Callable
from dataclasses import replace

from lowwater.model import Diagnosis, Ending, Kind, Note, Timeline
from lowwater.supervisor.session import diagnose
from lowwater.testing import a_run
from replay.measure import unit_of
from replay.recordings import RECORDINGS, Recorded
from replay.transforms import cut

KILLED = Ending(95.0, exit_code=None, signal=9, peak_rss_bytes=600 << 20)


def recorded(specimen: str) -> Timeline:
    path = RECORDINGS / specimen / "quiet.lw"
    return Recorded(specimen, "quiet", path).timeline()


def after(specimen: str, rounds: int) -> Timeline:
    """The recording as it stood after so many rounds."""
    whole = Recorded(specimen, "quiet", RECORDINGS / specimen / "quiet.lw")
    timeline = whole.timeline()
    unit = unit_of(timeline, whole.truth)
    assert unit is not None
    return cut(timeline, unit, rounds)


def told_run(timeline: Timeline) -> Timeline:
    """A run that was not recorded: of a script, and with an end."""
    return replace(timeline, environment={"script": "train.py"}, ending=Ending(60.0, exit_code=0))


def never_looked_into(timeline: Timeline) -> Timeline:
    """The same, had there been no room to look at the objects."""
    return replace(timeline, censuses=(), holders=(), tallies=())


def killed_for_memory() -> Timeline:
    ending = replace(KILLED, out_of_memory=True, peak_rss_bytes=740 << 20)
    cut_off = Note(95.0, "the last record was cut off and is left out")
    return replace(after("callback_leaks", 11), ending=ending, notes=(cut_off,))


def unmeasured() -> Timeline:
    why = {"TensorFlow": "CPU:0 has no allocator statistics"}
    return replace(after("callback_leaks", 3), unmeasured=why)


SCREENS: dict[str, tuple[Kind, Callable[[], Timeline]]] = {
    "leak": (Kind.LEAK, lambda: told_run(a_run(12).grows(mib=4).timeline())),
    "leak-in-a-loop-of-models": (
        Kind.LEAK,
        lambda: never_looked_into(recorded("models_in_a_loop_leaks")),
    ),
    "leak-with-a-finding": (Kind.LEAK, lambda: recorded("callback_leaks")),
    "leak-with-two-findings": (Kind.LEAK, lambda: recorded("callback_and_models_leaks")),
    "leak-of-a-library": (Kind.LEAK, lambda: recorded("models_in_a_loop_leaks")),
    "killed-for-memory": (Kind.LEAK, killed_for_memory),
    "reserved": (Kind.RESERVED, lambda: recorded("tensors_dropped")),
    "fragmented": (Kind.FRAGMENTED, lambda: recorded("ragged_blocks_fragmented")),
    "inconclusive": (Kind.INCONCLUSIVE, unmeasured),
    "without-round-trips": (
        Kind.INCONCLUSIVE,
        lambda: told_run(Timeline()),
    ),
    "killed-without-a-leak": (
        Kind.FLAT,
        lambda: replace(after("callback_flat", 10), ending=KILLED),
    ),
    "flat": (Kind.FLAT, lambda: recorded("six_epochs_flat")),
    "trickle": (Kind.TRICKLE, lambda: recorded("callback_flat")),
    "slow-leak": (Kind.LEAK, lambda: recorded("slow_py_function_leaks")),
    "warm-up": (Kind.WARM_UP, lambda: recorded("tensors_kept_once")),
    "cache": (Kind.CACHE, lambda: recorded("cache_over_five_epochs")),
    "sawtooth": (
        Kind.SAWTOOTH,
        lambda: told_run(a_run(30).swings(mib=10, every=5).timeline()),
    ),
    "sawtooth-explained": (Kind.SAWTOOTH, lambda: recorded("collector_off_sawtooth")),
}


def screen_of(name: str) -> Diagnosis:
    """What the product says about it; a golden file must be of the kind that its name says."""
    kind, timeline = SCREENS[name]
    diagnosis = diagnose(timeline())
    assert diagnosis.verdict.kind is kind, diagnosis.verdict
    return diagnosis
