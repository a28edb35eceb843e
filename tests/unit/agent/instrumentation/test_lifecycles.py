"""A birth is a boundary, seen before the newborn is counted."""

from lowwater.agent.instrumentation._tick import Passes
from lowwater.agent.instrumentation.calls import Calls
from lowwater.agent.instrumentation.lifecycles import Lives


class Model:
    pass


class Census:
    """An observer that asks at each boundary how many live."""

    is_on = True

    def __init__(self, lives):
        self.lives, self.seen = lives, []

    def unit_id(self, name, where=None):
        return 0

    def boundary(self, unit_id, ordinal, *, at_end=False):
        self.seen.append((ordinal, len(self.lives)))


def test_each_birth_is_a_boundary_at_which_only_the_others_live():
    lives = Lives(Calls(is_users=bool))
    census = Census(lives)
    born = lives.births(Passes(census, "model"))
    kept = [Model()]
    born(kept[0])
    born(kept[0])  # a second constructor of the same object
    kept.append(Model())
    born(kept[1])

    assert census.seen == [(0, 0), (1, 1)]
    assert len(lives) == 2
