"""What tensors asked for is put together from single allocations, of the pool that is meant."""

from lowwater.sizing.backends._pool_watch import changes_of


def event(at, name, requested, pool="bfc", peak=0):
    facts = {"allocator_name": pool, "requested_bytes": requested, "peak_bytes_in_use": peak}
    return at, f"Memory{name}", facts


def test_rises_and_falls_come_in_the_order_of_time():
    events = [
        event(3, "Deallocation", 100, peak=512),
        event(1, "Allocation", 100, peak=256),
        event(2, "Allocation", 50, peak=512),
    ]

    assert changes_of(events, 512) == [100, 50, -100]


def test_other_pools_do_not_count():
    events = [event(1, "Allocation", 100, peak=256), event(2, "Allocation", 9, "other", peak=9)]

    assert changes_of(events, 256) == [100]


def test_nothing_is_said_where_no_pool_or_several_had_this_peak():
    one = event(1, "Allocation", 100, peak=256)

    assert changes_of([one], 300) == []
    assert changes_of([one, event(2, "Allocation", 100, "other", peak=256)], 256) == []
