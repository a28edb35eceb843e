import sys

import pytest

from lowwater.giveback.unread import held_by_unread_variables


class Net:
    """Stands for a model."""

    def __init__(self, **parts):
        self.__dict__.update(parts)
        self.itself = self


def going():
    """As the program calls it: from a file of its own."""
    return held_by_unread_variables()


def test_local_that_nothing_reads_again_holds_nothing_for_long():
    def trial():
        model = Net()
        address = id(model)
        return address in going()

    assert trial()


def test_local_that_is_read_later_holds_its_object():
    def trial():
        model = Net()
        address = id(model)
        found = address in going()
        return found, model

    assert trial()[0] is False


def test_local_of_a_caller_counts_as_well():
    def trial(read_later):
        model = Net()
        address = id(model)
        found = clean_up(model, address)
        return found, read_later and model

    def clean_up(net, address):
        return address in going()

    def last_trial():
        model = Net()
        return clean_up(model, id(model))

    assert trial(False)[0] is False
    assert last_trial()


def test_object_in_a_list_elsewhere_is_held():
    kept = []

    def trial():
        model = Net()
        kept.append(model)
        address = id(model)
        return address in going()

    assert trial() is False


def test_object_on_the_way_to_another_call_is_held():
    def trial():
        model = Net()
        address = id(model)
        return [model, address in going()][1]

    assert trial() is False


def test_variable_shared_with_an_inner_function_goes_with_it():
    def trial():
        model = Net()
        step = lambda: model  # noqa: E731
        address = id(step())
        return address in going()

    assert trial()


def test_variable_of_an_inner_function_that_lives_is_held():
    steps = []

    def trial():
        model = Net()
        steps.append(lambda: model)
        address = id(model)
        return address in going()

    assert trial() is False


class History:
    """Stands for what `fit` returns: it refers to the model."""

    def __init__(self, model):
        self.model = model
        self.history = {"loss": [0.5]}


@pytest.fixture
def keras(monkeypatch):
    module = type(sys)("keras.callbacks")
    module.History = History
    monkeypatch.setitem(sys.modules, "keras.callbacks", module)


@pytest.mark.usefixtures("keras")
def test_history_that_is_read_for_its_numbers_holds_no_model():
    def trial():
        model = Net()
        history = History(model)
        address = id(model)
        return address in going(), history.history["loss"]

    assert trial()[0]


@pytest.mark.usefixtures("keras")
def test_history_that_is_handed_on_holds_its_model():
    def trial():
        model = Net()
        history = History(model)
        address = id(model)
        return address in going(), history

    assert trial()[0] is False


def test_without_a_call_of_the_program_nothing_goes(monkeypatch):
    monkeypatch.setattr("lowwater.giveback.unread.is_users", lambda _: False)

    assert going() == set()


def at_module_level(then=""):
    """Whether the model of a script goes by itself."""
    space = {"__name__": "__main__", "Net": Net, "going": going}
    source = f"model = Net()\naddress = id(model)\nfound = address in going()\n{then}\n"
    exec(compile(source, __file__, "exec"), space)
    return space["found"]


def test_variable_of_a_script_is_followed_to_its_end():
    assert at_module_level()
    assert not at_module_level(then="print(model)")


def test_who_sits_at_a_prompt_may_read_any_variable(monkeypatch):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)

    assert not at_module_level()
