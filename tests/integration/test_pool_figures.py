"""The figures of TensorFlow's host pool are possible ones, whichever pool it is."""

import pytest

from lowwater.model import gauges

pytestmark = pytest.mark.tensorflow

MIB = 1 << 20
# Tensors come and go in the pool, beside arrays as large as a region that stay. The first tensor is
# large, so that no smaller region comes before its own.
PROGRAM = """\
    import numpy as np
    import tensorflow as tf

    kept = []
    for step in range(8):
        tensor = tf.zeros((40 + 20 * step, 512, 512))
        kept.append(np.ones((8, 1024, 1024), "float32"))
        del tensor
"""
POOLS = {
    "BFC": {"TF_CPU_ALLOCATOR_USE_BFC": "1"},
    # On processors without AVX512-VNNI and the like there is no pool, and the same must hold.
    "oneDNN": {"TF_ENABLE_ONEDNN_OPTS": "1"},
}


@pytest.mark.parametrize("pool", POOLS)
def test_the_ledger_of_a_pool_adds_up_and_tells_what_stays(programs, pool):
    programs.write("pool.py", PROGRAM)

    run = programs.watch("pool.py", env=POOLS[pool])

    rows = {row["name"]: row for row in run.report["ledger"]["rows"]}
    allocators = [row for row in rows.values() if row["layer"] == "allocator"]
    for when in ("first_bytes", "last_bytes"):
        assert sum(row[when] for row in allocators) == rows["resident, anonymous"][when]
    for row in allocators:
        assert row["highest_bytes"] <= rows["resident, in all"]["highest_bytes"]
        assert min(row["first_bytes"], row["last_bytes"], *row["series"]) >= 0
    # Whatever the pool is, the arrays are all that is left of each round, but for the books of the
    # pool: 8 bytes for each 256 of a region.
    [loop] = [unit for unit in run.timeline.units if unit.name == "iteration"]
    levels = [gauges.in_use_bytes(one.gauges) for one in run.timeline.of(loop) if one.ordinal]
    assert 7 * 32 * MIB <= levels[-1] - levels[0] <= (7 * 32 + 20) * MIB
