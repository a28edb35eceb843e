"""What tensors asked for is put together from single allocations, of the pool that is meant."""

from lowwater.model.step_trace import GIVEN_BACK
from lowwater.sizing.backends._pool_watch import events_of


def event(at, what, address, requested=0, **others):
    facts = {"allocator_name": "bfc", "peak_bytes_in_use": 256, "tf_op": "MatMul"}
    facts |= {"addr": address, "requested_bytes": requested, **others}
    return at, f"Memory{what}", facts


def test_allocations_come_in_the_order_of_time_and_have_names_of_their_own():
    found = events_of(
        [
            event(3, "Deallocation", 0xA),
            event(1, "Allocation", 0xA, 100),
            event(2, "Allocation", 0xB, 50),
            event(4, "Allocation", 0xA, 70),
        ],
        256,
    )

    names = [name for name, _ in found]
    assert [number for _, number in found] == [100, 50, 0, 70]
    assert names[2] == GIVEN_BACK
    assert len({*names}) == 4


def test_what_was_there_before_the_step_may_be_given_back_in_it():
    assert events_of([event(1, "Deallocation", 0xA), event(2, "Allocation", 0xB, 9)], 256) == (
        ("MatMul None None 1", 9),
    )


def test_other_pools_do_not_count():
    events = [
        event(1, "Allocation", 1, 100),
        event(2, "Allocation", 2, 9, allocator_name="other", peak_bytes_in_use=9),
    ]

    assert [size for _, size in events_of(events, 256)] == [100]


def test_nothing_is_said_where_no_pool_or_several_had_this_peak():
    one = event(1, "Allocation", 1, 100)

    assert events_of([one], 300) == ()
    assert events_of([one, event(2, "Allocation", 1, 100, allocator_name="other")], 256) == ()
