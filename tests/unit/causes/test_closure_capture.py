from lowwater.causes.catalogue import find_causes
from lowwater.testing import a_holder, a_module, a_step, an_array, an_evidence


def test_list_of_lambdas_keeps_what_they_refer_to():
    held = a_holder(
        a_module(),
        a_step(".reports", "list"),
        a_step("[*]", "function", about="<lambda>", where="train.py:9"),
        an_array("closure predictions"),
        grows=".reports",
        added_at="train.py:9",
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW104"
    assert finding.message == (
        "`reports` grows by one function every epoch, and each keeps a float32 array (4096, 256)."
    )
    assert finding.where == "train.py:9"


def test_list_of_partials_is_the_same():
    held = a_holder(
        a_module(),
        a_step(".jobs", "list"),
        a_step("[*]", "functools.partial"),
        an_array("argument data"),
        grows=".jobs",
    )

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW104"]


def test_default_argument_that_grows_is_named():
    held = a_holder(
        a_module(),
        a_step(".remember", "function", about="remember", where="train.py:4"),
        a_step("default seen", "list"),
        an_array(),
        grows="default seen",
        added_at="train.py:5",
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW104"
    assert finding.message == (
        "The default argument `remember.seen` grows by one float32 array (4096, 256) every epoch."
    )
    assert finding.fix == (
        "Default to `None` and create the list inside the function: a default is created only once."
    )


def test_list_in_a_closure_is_named():
    held = a_holder(
        a_module(),
        a_step(".log", "function", about="make_log.<locals>.log", where="train.py:4"),
        a_step("closure rows", "list"),
        an_array(),
        grows="closure rows",
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.message == (
        "`log.rows`, which a closure keeps, grows by one float32 array (4096, 256) every epoch."
    )
    assert finding.where == "train.py:4"


def test_list_of_arrays_beside_functions_is_no_closure():
    held = a_holder(
        a_module(),
        a_step(".agent", "__main__.Agent", where="train.py:3"),
        a_step(".rows", "list"),
        an_array(),
        grows=".rows",
    )

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW102"]


def test_attribute_of_a_function_is_a_container():
    held = a_holder(
        a_module(),
        a_step(".step", "function", about="step", where="train.py:4"),
        a_step(".seen", "list"),
        an_array(),
        grows=".seen",
    )

    [finding] = find_causes(an_evidence(held))

    assert (finding.code, finding.holder) == ("LW102", "step.seen")


def a_method_in(*above, given_at=None):
    return a_holder(
        *above,
        a_step(".registry", "dict"),
        a_step("[*]", "weakref.finalize._Info"),
        a_step(".func", "method", about="Shard.cleanup", where="train.py:19"),
        a_step(".__self__", "__main__.Shard", where="train.py:12"),
        an_array(".rows"),
        grows=".registry",
        added_at=given_at,
        is_users=False,
    )


def test_methods_that_python_keeps_are_found():
    held = a_method_in(a_module("weakref"), given_at="train.py:17")

    [finding] = find_causes(an_evidence(held))

    assert (finding.code, finding.where) == ("LW104", "train.py:17")
    assert finding.holder == "Shard.cleanup"
    assert finding.message == (
        "`Shard.cleanup` is registered to be called later, once every epoch, and each time it "
        "keeps a float32 array (4096, 256)."
    )


def test_methods_that_a_framework_keeps_have_causes_of_their_own():
    held = a_method_in(a_module("tensorflow.python.framework.ops"))

    assert "LW104" not in [found.code for found in find_causes(an_evidence(held))]
