"""The peaks that Lowwater measures at one batch size, in a fresh process: JSON on the last line.

$ KERAS_BACKEND=jax python footprint_measured.py MODEL BATCH_SIZE
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main(name: str, batch_size: int) -> None:
    """Prints the peak of every step."""
    from models import load

    from lowwater.model.footprint import StepKind
    from lowwater.sizing.footprint import found_in_child, subject_of
    from lowwater.sizing.measure import MeasuringPlan

    module = load(name)
    x, y = module.data(256)
    plan = MeasuringPlan(batch_sizes=(batch_size,), kinds=(StepKind.TRAIN,))
    found = found_in_child(subject_of(module.build(), x, y, None, None), plan)
    print(json.dumps(found.of(StepKind.TRAIN)[0].peaks_bytes))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
