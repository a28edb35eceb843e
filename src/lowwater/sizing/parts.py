"""What a peak is made of; the parts add up to it, and none is negative."""

from lowwater.model.footprint import Fixed, PeakPart


def parts_of(
    peak_bytes: int,
    batch_size: int,
    fixed: Fixed,
    growing_bytes: float | None,
    lost_bytes: int = 0,
) -> tuple[PeakPart, ...]:
    """Weights, optimizer and batch are counted; the rest of the peak is shared out.

    What grows with the batch is activations, what does not is gradients and workspace. Not all
    gradients are there at the moment of the peak: their share is an upper bound. `growing_bytes` is
    None where it is not known, and `lost_bytes` is what a pool gave out beyond what it was asked
    for.
    """
    rest = peak_bytes
    taken: list[PeakPart] = []

    def take(name: str, size: float, *, is_at_most: bool = False) -> None:
        nonlocal rest
        size_bytes = max(0, min(rest, round(size)))
        rest -= size_bytes
        taken.append(PeakPart(name, size_bytes, is_at_most))

    take("weights", fixed.weights_bytes)
    take("optimizer", fixed.optimizer_bytes)
    take("batch", fixed.sample_bytes * batch_size)
    take("pool rounding", lost_bytes)
    if growing_bytes is None:
        take("gradients", fixed.gradients_bytes, is_at_most=True)
        taken.append(PeakPart("activations and workspace", rest))
        return tuple(taken)
    take("activations", growing_bytes - fixed.sample_bytes * batch_size)
    take("gradients", fixed.gradients_bytes, is_at_most=True)
    taken.append(PeakPart("workspace", rest))
    return tuple(taken)
