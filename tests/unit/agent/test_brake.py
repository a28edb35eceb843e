"""Looking for a cause takes a quarter of a short program's processor time, and less of a long."""

import pytest

from lowwater.agent.brake import Brake
from lowwater.model.policy import Policy

COLLECTION_S, CENSUS_S = 0.15, 0.9


@pytest.fixture
def brake():
    return Brake(Policy())


def left_s(brake, program_s):
    """What is left when the program itself has taken so much."""
    return brake.left_s(program_s + brake.spent_s, with_credit=True)


def allows_collection(brake, program_s):
    return brake.allows_collection(program_s + brake.spent_s, with_credit=True)


def allows_last_census(brake, program_s):
    return brake.allows_last_census(program_s + brake.spent_s)


@pytest.mark.parametrize(("program_s", "most"), [(8.0, 0.28), (20.0, 0.25), (600.0, 0.13)])
def test_all_in_all_it_takes_no_more_than_its_share(brake, program_s, most):
    """Asked all the time, as by a program that rises all the time."""
    for tenth in range(round(program_s * 10)):
        if allows_collection(brake, tenth / 10):
            brake.collected(COLLECTION_S)
        if brake.allows_census(left_s(brake, tenth / 10)):
            brake.counted(CENSUS_S)

    assert 0.5 * most < brake.spent_s / program_s < most


def test_a_first_collection_and_two_censuses_fit_into_the_shortest_keras_program(brake):
    """Six epochs: 8 s, of which 6 are over when it is suspected, on a machine that is not fast."""
    assert allows_collection(brake, 6.0)
    brake.collected(COLLECTION_S)
    assert brake.allows_census(left_s(brake, 6.0))
    brake.counted(1.3 * CENSUS_S)
    assert allows_collection(brake, 8.0)
    brake.collected(COLLECTION_S)
    assert not brake.allows_census(left_s(brake, 8.0))
    assert allows_last_census(brake, 8.0)


def test_collections_do_not_use_up_the_last_chance(brake):
    """A public program was collected seven times, and its cause not named for want of a look."""
    brake.counted(CENSUS_S)
    for _ in range(20):
        brake.collected(COLLECTION_S)

    assert allows_last_census(brake, 8.0)


@pytest.mark.parametrize("slower", [1, 3, 10])
def test_a_busy_machine_does_not_take_the_last_chance(brake, slower):
    """With JAX, torch and pandas in the process, a census takes 2.5 seconds of nine."""
    brake.counted(2.5 * slower)
    for _ in range(6):
        brake.collected(0.3 * slower)

    assert allows_last_census(brake, 9.0 * slower)


def test_a_script_that_takes_no_time_itself_has_a_last_chance_too(brake):
    """A million objects of its own take a second to look at, and half of that to make."""
    brake.counted(1.2)

    assert allows_last_census(brake, 0.6)


def test_a_last_chance_does_not_overdraw_twice(brake):
    brake.counted(3.5)

    assert not allows_last_census(brake, 8.0)


def test_a_first_census_of_very_many_objects_is_not_begun_in_a_short_run(brake):
    brake.collected(8 * COLLECTION_S)

    assert not brake.allows_census(left_s(brake, 2.0))
    assert brake.allows_census(left_s(brake, 120.0))


@pytest.mark.parametrize("slower", [1, 1.7, 3, 10])
def test_a_busy_machine_does_not_take_the_first_look(brake, slower):
    """All takes longer alike: the program, the collections, and the look."""
    brake.collected(COLLECTION_S * slower)

    assert brake.allows_census(left_s(brake, 5.0 * slower))


def test_another_thread_has_no_credit(brake):
    assert brake.left_s(1.0, with_credit=False) < COLLECTION_S
    assert brake.left_s(1.0, with_credit=True) > CENSUS_S


def test_collections_go_on_when_censuses_have_taken_all(brake):
    brake.collected(COLLECTION_S)
    brake.counted(3 * CENSUS_S)

    assert not brake.allows_census(left_s(brake, 6.0))
    assert allows_collection(brake, 6.0)
