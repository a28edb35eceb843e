import functools
import sys

from lowwater.giveback.living import Watched
from lowwater.giveback.who_holds import Circumstances, survivors
from lowwater.model.trace_lines import as_text


class Net:
    """Stands for a model."""

    name = "net"


class Study:
    """A user's class with attributes."""

    def __init__(self, net):
        self.nets = [net]


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
        "     leaked: it should have been released",
    ]


def test_variable_that_is_spared_is_told_with_the_reason():
    def main():
        best = Net()
        spared = {("best", id(best)): "read later, train.py:40"}
        return survivors([Watched.of(best, "model")], Circumstances(spared=spared))

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
        return survivors([Watched.of(study.nets[0], "model")], Circumstances(spared=spared))

    [told] = main()

    assert drawn(told)[2:] == [
        "├─ local study: Study",
        "│    needed: read later, train.py:40",
        "├─ .nets: list, 1 item",
        "╰→ [*]: `net` (Net)",
        "     needed: read later, train.py:40",
    ]


def held_by_a_deep_list():
    deep = net = Net()
    for _ in range(12):
        deep = [deep]
    return survivors([Watched.of(net, "model")], Circumstances(block={"net": net}))


def test_long_way_is_cut_in_the_middle():
    [told] = held_by_a_deep_list()

    names = [line for line in drawn(told) if ":" not in line and "~" not in line]
    assert "├─ … 7 more" in names
    assert len(told.trace) == 8


def test_much_data_in_a_module_does_not_hide_a_long_way_from_a_local(monkeypatch):
    monkeypatch.setitem(globals(), "DATA", [[] for _ in range(200_000)])

    [told] = held_by_a_deep_list()

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
        "     leaked: it should have been released",
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
        return survivors([Watched.of(model, "model")], Circumstances(block={"model": model})), study

    [told] = main()[0]

    assert "`study` is still a local" in told.held_by


def test_variable_of_the_block_is_named_if_nobody_else_is_found():
    def main():
        model = Net()
        return survivors([Watched.of(model, "model")], Circumstances(block={"model": model}))

    [told] = main()

    assert "`model` is still a local" in told.held_by


def test_dead_objects_have_no_holder():
    watched = Watched.of(Net(), "model")

    assert survivors([watched]) == ()


def test_every_one_is_told():
    nets = [Net() for _ in range(20)]

    assert len(survivors([Watched.of(net, "model") for net in nets])) == 20


def others_of(survivor):
    return [other.held_by.partition(" of ")[0] for other in survivor.others]


def test_all_holders_are_named_the_nearest_first():
    def main():
        model = Net()
        best = model
        study = Study(model)
        deep = {"models": [model]}
        return survivors([Watched.of(model, "model")]), best, study, deep

    [told] = main()[0]

    assert told.held_by.startswith("`model` is still a local")
    assert others_of(told) == [
        "`best` is still a local",
        "`study` is still a local",
        "`deep` is still a local",
    ]
    assert [node.edge for node in told.others[2].trace] == ["", "local deep", "['models']", "[*]"]


def test_way_through_a_finished_call_of_a_kept_exception_is_told():
    kept = []

    def train():
        model = Net()
        try:
            float("diverged")
        except ValueError as error:
            kept.append(error)
        return model

    def main():
        m = train()
        return survivors([Watched.of(m, "model")], Circumstances(block={"m": m}))

    [told] = main()

    assert told.held_by.startswith("`kept` is still a local")
    assert told.others == ()
    assert [node.edge for node in told.trace] == [
        "",
        "local kept",
        "[*]",
        ".__traceback__",
        "local model",
    ]
    assert "train() that has ended, " in told.trace[-2].what


def test_exception_that_is_being_handled_is_named():
    def train():
        model = Net()
        watched.append(Watched.of(model, "model"))
        raise ValueError("diverged")

    watched = []
    try:
        train()
    except ValueError:
        [told] = survivors(watched)

    assert told.held_by == "the `ValueError` that is being handled"
    assert drawn(told)[0] == "┬─ the `ValueError` that is being handled"


def test_part_is_told_by_its_owner_unless_the_program_has_it_in_hand():
    def main():
        study = Study(Net())
        net = study.nets[0]
        net.layer, net.optimizer = Net(), Net()
        optimizer = [net.optimizer]
        watched = [Watched.of(net, "model"), Watched.of(net.layer, "layer")]
        watched.append(Watched.of(net.optimizer, "optimizer"))
        del net
        return survivors(watched), optimizer

    told = main()[0]

    assert [one.held_by.partition(" is ")[0] for one in told] == ["`study`", "`optimizer`"]


def test_variable_of_the_block_is_no_holder_beside_another():
    def main():
        model = Net()
        model.layer = Net()
        layer = model.layer
        study = Study(model)
        watched = [Watched.of(model, "model"), Watched.of(layer, "layer")]
        return survivors(watched, Circumstances(block={"model": model, "layer": layer})), study

    [told] = main()[0]

    assert "`study` is still a local" in told.held_by
    assert told.others == ()


def test_what_nobody_asked_for_is_not_called_a_leak():
    def main():
        model = Net()
        return survivors([Watched.of(model, "model")], Circumstances(was_to_go=False))

    [told] = main()

    assert told.trace[-1].because == ""


def test_attribute_is_told_by_the_name_that_the_program_reads_it_by():
    class History:
        @property
        def model(self):
            return self._model

    def main():
        history = History()
        history._model = Net()
        return survivors([Watched.of(history.model, "model")])

    [told] = main()

    assert told.trace[-1].edge == ".model"


def test_search_that_was_cut_short_says_so(monkeypatch):
    monkeypatch.setitem(globals(), "DATA", [[] for _ in range(200_000)])
    notes = []

    def main():
        net = Net()
        return survivors([Watched.of(net, "model")], notes=notes)

    assert main()[0].held_by.startswith("`net` is still a local")
    assert notes == [
        "there may be more holders than are named: the program has too many objects to search"
    ]


def test_variable_that_nothing_reads_again_is_no_leak():
    def main():
        model = Net()
        watched = [Watched.of(model, "model")]
        return survivors(watched, Circumstances(going={id(model)}))

    [told] = main()

    assert told.held_by.endswith("; nothing reads it again, and it is freed when the call returns")
    assert told.trace[-1].because == ""


def test_output_of_a_notebook_is_told_with_the_way_to_drop_it(monkeypatch):
    module = type(sys)("IPython")
    module.get_ipython = object
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(sys.modules["__main__"], "_7", [Net()], raising=False)

    [told] = survivors([Watched.of(sys.modules["__main__"]._7[0], "model")])

    assert told.held_by == (
        "`_7` is an output that the notebook keeps; lowwater.release(notebook=True) drops it"
    )
