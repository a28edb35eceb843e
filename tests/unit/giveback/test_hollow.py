import copy
import gc
import pickle
import weakref

import pytest

from lowwater.errors import AlreadyReleased, UserError
from lowwater.giveback.hollow import empty, is_shell, story_of


class Net:
    """Stands for a model: a name, weights, a cycle."""

    def __init__(self):
        self.name = "net"
        self.weights = Weights()
        self.owner = self

    def fit(self):
        return "fitted"


class Weights:
    """Something that can be seen to die."""


def test_content_dies_and_the_shell_stays():
    net = Net()
    weights = weakref.ref(net.weights)

    assert empty(net, "train.py:31") == "`net` (Net)"

    assert weights() is None
    assert is_shell(net)


@pytest.mark.parametrize(
    "use",
    [
        lambda net: net.fit(),
        lambda net: net(1),
        lambda net: net.weights,
        lambda net: setattr(net, "weights", 1),
    ],
)
def test_use_of_a_shell_is_an_error_that_tells_the_story(use):
    net = Net()
    empty(net, "train.py:31")

    with pytest.raises(AlreadyReleased) as caught:
        use(net)

    assert str(caught.value) == (
        "`net` (Net) was released at train.py:31. Try: build it again; inside a lifecycle, "
        "`life.keep(it)` keeps it alive"
    )


def test_tools_may_look_at_a_shell():
    net = Net()
    empty(net, "train.py:31")

    assert repr(net) == "<`net` (Net) was released at train.py:31>"
    assert not hasattr(net, "fit")
    assert not hasattr(net, "__array__")
    assert getattr(net, "name", "nothing") == "nothing"
    assert story_of(copy.copy(net)) == story_of(pickle.loads(pickle.dumps(net)))


def test_shell_dies_like_anything_else():
    net = Net()
    empty(net, "train.py:31")
    reference = weakref.ref(net)
    del net
    gc.collect()

    assert reference() is None


def test_object_of_another_layout_is_refused_and_stays_whole():
    class Odd(dict):
        name = "odd"

    odd = Odd(a=1)
    with pytest.raises(UserError, match="cannot be emptied"):
        empty(odd, "train.py:31")

    assert odd == {"a": 1}
