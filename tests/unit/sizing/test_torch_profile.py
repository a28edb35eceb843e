"""Peaks from what torch's allocator tells, in the order of time."""

from lowwater.sizing.backends._torch_profile import Event, peaks_of


def begins(time):
    return Event(time, None)


def test_each_step_has_the_highest_level_in_it():
    events = [begins(0), Event(1, 50), Event(2, 30), Event(3, -80), begins(4), Event(5, 60)]

    assert peaks_of(events, 100) == (180, 160)


def test_what_one_step_leaves_counts_in_the_next_until_it_is_freed():
    gradients = 40
    steps = [begins(0), Event(1, gradients), begins(2), Event(3, 70), Event(4, -gradients)]

    assert peaks_of(steps, 0) == (40, 110)


def test_events_are_taken_in_the_order_of_time_and_not_as_threads_told_them():
    events = [Event(3, -80), Event(2, 30), begins(0), Event(1, 50)]

    assert peaks_of(events, 0) == (80,)


def test_a_step_begins_before_the_block_of_the_same_moment():
    assert peaks_of([Event(5, 10), begins(5)], 0) == (10,)


def test_step_that_takes_nothing_has_the_level_it_began_with():
    assert peaks_of([begins(0), begins(1)], 7) == (7, 7)
