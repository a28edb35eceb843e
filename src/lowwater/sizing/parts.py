"""What a peak is made of; the parts add up to it, and none is negative."""

from lowwater.model.footprint import Fixed, Line, Part


def parts_of(peak_bytes: int, batch_size: int, fixed: Fixed, line: Line | None) -> tuple[Part, ...]:
    """Weights, optimizer and batch are counted; the rest of the peak is shared out by the line.

    What grows with the batch is activations, what does not is gradients and workspace. Not all
    gradients are there at the moment of the peak: their share is an upper bound.
    """
    rest = peak_bytes
    taken: list[Part] = []

    def take(name: str, size: float, *, is_at_most: bool = False) -> None:
        nonlocal rest
        size_bytes = max(0, min(rest, round(size)))
        rest -= size_bytes
        taken.append(Part(name, size_bytes, is_at_most))

    take("weights", fixed.weights_bytes)
    take("optimizer", fixed.optimizer_bytes)
    take("batch", fixed.sample_bytes * batch_size)
    if line is None:
        take("gradients", fixed.gradients_bytes, is_at_most=True)
        taken.append(Part("activations and workspace", rest))
        return tuple(taken)
    take("activations", (line.bytes_per_sample - fixed.sample_bytes) * batch_size)
    take("gradients", fixed.gradients_bytes, is_at_most=True)
    taken.append(Part("workspace", rest))
    return tuple(taken)
