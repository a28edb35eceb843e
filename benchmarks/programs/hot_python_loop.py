"""No framework at all: a hot loop of calls, which must not feel the ticks."""

import time


def mixed(value: int) -> int:
    """Do a little work, as a parser or an environment step would."""
    return (value * 2654435761) & 0xFFFFFFFF


started = time.perf_counter()
total = 0
for outer in range(7_500):
    for inner in range(10_000):
        total ^= mixed(outer ^ inner)
print(f"LOOP_S={time.perf_counter() - started:.6f}")
