import functools

import pytest

from lowwater.giveback.living import Watched
from lowwater.giveback.who_holds import survivors
from lowwater.trace_lines import as_text


class Net:
    """Stands for a model."""

    name = "net"


class Study:
    """A user's class with attributes."""

    def __init__(self, net):
        self.nets = [net]


def who_holds(net, **options):
    return survivors([Watched.of(net, "model")], **options)


def drawn(survivor):
    return as_text(survivor.trace)


HERE = "test_who_holds.py"


def test_local_is_named_with_its_function_and_line():
    def main():
        model = Net()
        return survivors([Watched.of(model, "model")])

    [told] = main()

    assert told.what == "`net` (Net)"
    assert told.held_by.startswith("`model` is still a local of `test_local_is_named")
    assert HERE in told.where
    assert drawn(told) == [
        f"┬─ {told.where}  test_local_is_named_with_its_function_and_line.<locals>.main()",
        "│    needed: the call is running",
        "│  ~~~~~~~~~~~",
        "╰→ local model: `net` (Net)",
        "     leaked: it was to be given back",
    ]


def test_variable_that_is_spared_is_told_with_the_reason():
    def main():
        best = Net()
        spared = {("best", id(best)): "read later, train.py:40"}
        return survivors([Watched.of(best, "model")], spared=spared)

    [told] = main()

    assert told.held_by == "`best` is read later, train.py:40"
    assert drawn(told)[-2:] == [
        "╰→ local best: `net` (Net)",
        "     needed: read later, train.py:40",
    ]


def test_way_below_a_spared_variable_is_needed():
    def main():
        study = Study(Net())
        spared = {("study", id(study)): "read later, train.py:40"}
        return survivors([Watched.of(study.nets[0], "model")], spared=spared)

    [told] = main()

    assert drawn(told)[2:] == [
        "├─ local study: Study",
        "│    needed: read later, train.py:40",
        "├─ .nets: list, 1 item",
        "╰→ [*]: `net` (Net)",
        "     needed: read later, train.py:40",
    ]


def test_long_way_is_cut_in_the_middle():
    def main():
        deep = net = Net()
        for _ in range(12):
            deep = [deep]
        return survivors([Watched.of(net, "model")], {"net": net})

    [told] = main()

    names = [line for line in drawn(told) if ":" not in line and "~" not in line]
    assert "├─ … 7 more" in names
    assert len(told.trace) == 8


def test_much_data_in_a_module_does_not_hide_a_long_way_from_a_local(monkeypatch):
    monkeypatch.setitem(globals(), "DATA", [[] for _ in range(200_000)])

    def main():
        deep = net = Net()
        for _ in range(12):
            deep = [deep]
        return survivors([Watched.of(net, "model")], {"net": net})

    [told] = main()

    assert told.held_by.startswith("`deep` is still a local")


def test_way_through_attributes_and_items_is_told():
    def main():
        study = Study(Net())
        return survivors([Watched.of(study.nets[0], "model")])

    [told] = main()

    assert "`study` is still a local" in told.held_by
    assert drawn(told)[2:] == [
        "│  ~~~~~~~~~~~",
        "├─ local study: Study",
        "│   ~~~~",
        "├─ .nets: list, 1 item",
        "│  ~~~",
        "╰→ [*]: `net` (Net)",
        "     leaked: it was to be given back",
    ]


def test_closure_is_told():
    def hold(net):
        return lambda: net

    def main():
        step = functools.partial(hold(Net()))
        return survivors([Watched.of(step(), "model")])

    [told] = main()

    assert "`step` is still a local" in told.held_by
    assert "closure net" in [node.edge for node in told.trace]


def test_variables_of_the_block_are_named_last():
    def main():
        model = Net()
        study = Study(model)
        return survivors([Watched.of(model, "model")], {"model": model}), study

    [told] = main()[0]

    assert "`study` is still a local" in told.held_by


def test_variable_of_the_block_is_named_if_nobody_else_is_found():
    def main():
        model = Net()
        return survivors([Watched.of(model, "model")], {"model": model})

    [told] = main()

    assert "`model` is still a local" in told.held_by


def test_dead_objects_have_no_holder():
    watched = Watched.of(Net(), "model")

    assert survivors([watched]) == ()


@pytest.mark.parametrize("count", [3, 20])
def test_no_more_than_ten_are_told(count):
    nets = [Net() for _ in range(count)]

    assert len(survivors([Watched.of(net, "model") for net in nets])) == min(10, count)
