from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_array, an_evidence

SEQUENCE = "keras.src.trainers.data_adapters.py_dataset_adapter.PyDataset"
REFERENCE = (
    "A leak in tensorflow (measured on 2.21; a fix for pipelines, but not for eager "
    "`py_function`, was merged later (tensorflow/tensorflow#123530)); reported as "
    "tensorflow/tensorflow#123269."
)


def a_list_of_functions(*payload):
    return a_holder(
        a_module("tensorflow.python.framework.ops"),
        a_step("._default_graph", "tensorflow.python.framework.ops.Graph"),
        a_step("._py_funcs_used_in_graph", "list"),
        a_step("[*]", "function", about="from_generator.<locals>.get_next"),
        *payload,
        grows="._py_funcs_used_in_graph",
        items=3,
        is_users=False,
    )


def test_new_data_set_for_every_fit_is_found_where_it_is_fitted():
    frames = a_step("closure data", "__main__.Frames", SEQUENCE, where="train.py:7")
    fit = a_tally(tallies.CALLS, "fit", where="train.py:23")

    [finding] = find_causes(
        an_evidence(a_list_of_functions(frames, an_array(".data")), fit, unit="iteration")
    )

    assert finding.code == "LW304"
    assert finding.message == (
        "TensorFlow's default graph keeps the Python functions of input pipelines, "
        f"3 more every iteration, with the data of each `Frames`. {REFERENCE}"
    )
    assert finding.where == "train.py:23"
    assert finding.library == "tensorflow"


def test_generator_is_found_where_it_is_defined_if_no_call_was_counted():
    user_function = a_step("closure generator", "function", about="batches", where="train.py:9")

    [finding] = find_causes(
        an_evidence(a_list_of_functions(user_function, an_array("closure data")))
    )

    assert finding.where == "train.py:9"
    assert "with a float32 array (4096, 256) each" in finding.message


def test_list_of_functions_of_the_program_is_a_closure():
    held = a_holder(
        a_module(),
        a_step(".jobs", "list"),
        a_step("[*]", "function", where="train.py:9"),
        an_array("closure data"),
        grows=".jobs",
    )

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW104"]
