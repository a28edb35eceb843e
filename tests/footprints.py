"""Models that exist as arithmetic only: what their steps would take is known exactly."""

from lowwater.model.footprint import Fixed, StepKind, StepPeak, StepsFound
from lowwater.model.step_trace import GIVEN_BACK, StepTrace
from lowwater.sizing.found import footprint_of
from lowwater.sizing.pool_peaks import played

MIB = 1 << 20
FIXED = Fixed(10 * MIB, 20 * MIB, 10 * MIB, MIB // 8)


def a_step(batch_size, *peaks_mib, kind=StepKind.TRAIN):
    return StepPeak(batch_size, tuple(round(one * MIB) for one in peaks_mib), 0.01, kind)


def steps(peak_mib, batches=(8, 16, 32, 64), scatter=0.02, kind=StepKind.TRAIN):
    """Of a model whose step takes `peak_mib(batch)`; the lowest of each is a little less."""
    return tuple(
        a_step(one, peak_mib(one) * (1 - scatter), peak_mib(one), kind=kind) for one in batches
    )


def a_line(batch_size):
    """30 MiB of weights and optimizer, 5 MiB of workspace, 2 MiB for each sample."""
    return 35 + 2 * batch_size


def a_footprint(peak_mib=a_line, batch_size=64, fixed=FIXED, others=(), **found):
    return footprint_of(
        StepsFound("CPU:0", fixed, (*steps(peak_mib), *others), **found), batch_size
    )


def a_trace(batch_size, *, before_bytes=11 * MIB, per_sample=1.0, square=0.0, gradients_bytes=0):
    """Activations of 1 MiB and 0.4 MiB for each sample, and a workspace of 5 MiB."""
    wide = int(batch_size * (per_sample + square * batch_size) * MIB)
    narrow = int(0.4 * batch_size * per_sample * MIB)
    return StepTrace(
        before_bytes,
        (
            ("wide", wide),
            ("workspace", 5 * MIB),
            (GIVEN_BACK, 1),
            ("narrow", narrow),
            (GIVEN_BACK, 0),
            (GIVEN_BACK, 3),
            ("gradients", gradients_bytes),
            (GIVEN_BACK, 6),
        ),
    )


def a_watched_step(batch_size, *, ratio=1.0, **options):
    """In a real pool that gives out so many times what the one of arithmetic does."""
    trace = a_trace(batch_size, **options)
    peak = round(ratio * max(played([trace])))
    return StepPeak(batch_size, (peak,), 0.01, traces=(trace,))
