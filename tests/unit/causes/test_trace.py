from dataclasses import replace

from lowwater.causes.catalogue import find_causes
from lowwater.model import Status
from lowwater.testing import (
    a_holder,
    a_model,
    a_module,
    a_running_call,
    a_step,
    an_array,
    an_evidence,
)

CALLBACK = "keras.src.callbacks.callback.Callback"


def drawn(holder, **facts):
    """The trace as lines: suspect edges with a wave, then what it is, then why."""
    [finding] = find_causes(an_evidence(holder, **facts))
    return [
        f"{'~' * node.is_suspect}{node.edge} {node.what} | {node.status}: {node.because}".strip()
        for node in finding.trace
    ]


def test_trace_of_a_callback_points_at_its_attribute():
    held = a_holder(
        a_running_call(),
        a_step("local callbacks", "keras.src.callbacks.callback_list.CallbackList", CALLBACK),
        a_step(".callbacks", "list"),
        a_step("[*]", "__main__.SavePredictions", CALLBACK, where="train.py:6"),
        a_step(".saved", "list", about="8 items"),
        an_array(),
        grows=".saved",
    )

    assert drawn(held) == [
        "fit() | needed: the call is running",
        "local callbacks.callbacks[*] SavePredictions | needed: callback of the running fit",
        "~.saved list, 8 items (+1 per epoch) | leaked: grew in every epoch",
        "[*] ndarray float32 (4096, 256)  4.0 MiB × 8 | leaked: kept by the list above",  # noqa: RUF001
    ]


def test_object_between_module_and_container_is_unknown_and_suspect():
    held = a_holder(
        a_module(),
        a_step(".agent", "__main__.Agent", where="rl.py:5"),
        a_step(".memory", "list"),
        an_array(),
        grows=".memory",
    )

    assert drawn(held, unit="model")[:3] == [
        "module __main__ | needed: a module lives as long as the program",
        "~.agent Agent | unknown:",
        "~.memory list, 8 items (+1 per model built) | leaked: grew with every model built",
    ]


def test_everything_above_a_needed_object_is_needed():
    held = a_holder(
        a_module(),
        a_step(".trainer", "__main__.Trainer"),
        a_step(".recorder", "__main__.Recorder", CALLBACK),
        a_step(".saved", "list"),
        an_array(),
        grows=".saved",
    )

    assert drawn(held)[1:3] == [
        ".trainer Trainer | needed: holds the Recorder below, which is needed",
        ".recorder Recorder | needed: a callback passed to fit",
    ]


def test_everything_below_the_container_is_leaked():
    held = a_holder(
        a_module(),
        a_step(".failures", "list"),
        a_step("[*]", "tuple"),
        a_step("[1]", "ValueError", "Exception", "BaseException"),
        a_step(".__traceback__", "traceback"),
        a_step(".tb_frame", "frame", about="run_trial()", where="train.py:12"),
        an_array("local data"),
        grows=".failures",
    )

    [finding] = find_causes(an_evidence(held))

    assert [node.status for node in finding.trace] == [Status.NEEDED, *[Status.LEAKED] * 5]
    assert [node.edge for node in finding.trace] == [
        "",
        ".failures",
        "[*][1]",
        ".__traceback__",
        ".tb_frame",
        "local data",
    ]
    assert finding.trace[4].where == "train.py:12"


def test_dictionary_of_an_instance_and_cells_are_folded_away():
    held = a_holder(
        a_module(),
        a_step(".log", "function", about="log", where="train.py:4"),
        a_step("closure store", "cell"),
        a_step(".cell_contents", "__main__.Store"),
        a_step(".__dict__", "dict"),
        a_step("['rows']", "list"),
        an_array(),
        grows="['rows']",
    )

    [finding] = find_causes(an_evidence(held))

    assert [node.edge for node in finding.trace] == ["", ".log", "closure store", ".rows", "[*]"]


def test_long_way_through_a_library_is_one_node():
    inside = [a_step(f".part{n}", f"tensorflow.python.layer{n}.Thing{n}") for n in range(5)]
    held = a_holder(
        a_module(),
        *inside,
        a_step(".rows", "list"),
        an_array(),
        grows=".rows",
    )

    [finding] = find_causes(an_evidence(held))

    assert [node.what for node in finding.trace] == [
        "module __main__",
        "… 5 more inside tensorflow",
        "list, 8 items (+1 per epoch)",
        "ndarray float32 (4096, 256)  4.0 MiB × 8",  # noqa: RUF001
    ]
    assert finding.trace[1].edge == ".part0"


def test_history_and_model_are_shown_though_they_are_a_librarys():
    held = a_holder(
        a_module(),
        a_step(".runs", "list"),
        a_step("[*]", "keras.src.callbacks.history.History", CALLBACK),
        a_model(".model"),
        a_step(".optimizer", "keras.src.optimizers.adam.Adam"),
        a_step("['_momentums']", "keras.src.utils.tracking.TrackedList"),
        a_step("[*]", "keras.src.backend.Variable"),
        a_step("._value", "tensorflow.python.ops.Variable", about="float32 (64, 64)"),
        grows=".runs",
    )

    [finding] = find_causes(an_evidence(held))

    assert [f"{node.edge} {node.what}".strip() for node in finding.trace] == [
        "module __main__",
        ".runs list, 8 items (+1 per epoch)",
        "[*] History  4.0 MiB × 8",  # noqa: RUF001
        ".model Sequential",
        ".optimizer … 3 more inside keras",
        "._value Variable float32 (64, 64)",
    ]


def test_trace_is_never_longer_than_a_glance():
    above = [a_step(f".part{n}", f"__main__.Part{n}") for n in range(20)]
    below = [a_step(f".deep{n}", f"__main__.Deep{n}") for n in range(20)]
    held = a_holder(a_module(), *above, a_step(".rows", "list"), *below, grows=".rows")

    [finding] = find_causes(an_evidence(held))

    assert [f"{node.edge} {node.what}".strip() for node in finding.trace] == [
        "module __main__",
        ".part0 … 18 more",
        ".part18 Part18",
        ".part19 Part19",
        ".rows list, 8 items (+1 per epoch)",
        ".deep0 Deep0  4.0 MiB × 8",  # noqa: RUF001
        ".deep1 … 18 more",
        ".deep19 Deep19",
    ]


def test_container_at_the_root_and_without_items_can_be_drawn():
    lonely = a_holder(a_step("", "list"), grows="")

    assert drawn(lonely) == ["~ list, 8 items (+1 per epoch) | leaked: grew in every epoch"]


def test_new_items_are_told_from_old_ones_of_another_size():
    held = a_holder(
        a_module(), a_step(".seen", "list"), an_array(), a_step("", "cell"), grows=".seen"
    )
    crowded = replace(held, counts=(604, 606, 608))

    assert drawn(crowded)[-1] == (
        "[*] ndarray float32 (4096, 256)  4.0 MiB × 4 new | leaked: kept by the list above"  # noqa: RUF001
    )


def test_finding_without_a_path_has_no_trace():
    [finding] = find_causes(an_evidence())

    assert finding.trace == ()
