"""Models that exist as arithmetic only: what their steps would take is known exactly."""

from lowwater.model.footprint import Fixed, StepKind, StepPeak, StepsFound
from lowwater.sizing.found import footprint_of

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
