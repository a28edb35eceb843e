from lowwater.causes.catalogue import find_causes
from lowwater.testing import a_holder, a_module, a_running_call, a_step, an_array, an_evidence


def test_list_of_the_main_program_is_found():
    held = a_holder(
        a_module(), a_step(".seen", "list"), an_array(), grows=".seen", added_at="train.py:9"
    )

    [finding] = find_causes(an_evidence(held, unit="iteration", where="train.py:7"))

    assert finding.code == "LW102"
    assert finding.message == "`seen` grows by one float32 array (4096, 256) every iteration."
    assert finding.where == "train.py:9"
    assert finding.fix == (
        "Keep only what you need of each item, such as `float(loss)`; or drop old items: "
        "`collections.deque(maxlen=1000)`."
    )


def test_replay_memory_tells_what_is_heavy_in_its_items():
    held = a_holder(
        a_module(),
        a_step(".agent", "__main__.Agent", where="rl.py:5"),
        a_step(".memory", "collections.deque"),
        a_step("[*]", "tuple"),
        an_array("[0]", "uint8 (84, 84)"),
        grows=".memory",
        items=250,
        added_at="rl.py:16",
    )

    [finding] = find_causes(an_evidence(held, unit="episode"))

    assert finding.message == (
        "`Agent.memory` grows by 250 tuples every episode; most of each is a uint8 array (84, 84)."
    )
    assert finding.fix == "Give it a maximum length: `collections.deque(maxlen=1000)`."


def test_bytes_are_counted_in_words():
    held = a_holder(
        a_module(), a_step(".seen", "set"), a_step("[*]", "bytes"), grows=".seen", items=104
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.message == "`seen` grows by 104 bytes objects every epoch."


def test_list_in_a_dict_is_named_by_its_key():
    held = a_holder(
        a_running_call("main", "train.py:40"),
        a_step("local logs", "collections.defaultdict"),
        a_step("['loss']", "list"),
        a_step("[*]", "tensorflow.python.framework.ops.EagerTensor", about="float32 ()"),
        grows="['loss']",
        items=24,
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.holder == "logs['loss']"
    assert finding.message == "`logs['loss']` grows by 24 float32 tensors () every epoch."


def test_attribute_of_a_class_and_of_another_module_are_named_by_them():
    shared = a_holder(
        a_module("store"),
        a_step(".Store", "type", about="store.Store", where="store.py:3"),
        a_step(".rows", "list"),
        an_array(),
        grows=".rows",
    )
    variable = a_holder(a_module("pkg.store"), a_step(".rows", "list"), an_array(), grows=".rows")

    assert find_causes(an_evidence(shared))[0].holder == "Store.rows"
    assert find_causes(an_evidence(variable))[0].holder == "store.rows"


def test_one_item_in_many_rounds_is_told_as_such():
    held = a_holder(
        a_module(), a_step(".kept", "list"), an_array(), grows=".kept", items=0.5, mib=4
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.message == "`kept` grows by one float32 array (4096, 256) every 2 epochs."


def test_container_that_is_replaced_by_a_larger_one_is_told_in_bytes():
    held = a_holder(a_module(), a_step(".joined", "numpy.ndarray"), grows=".joined", items=0, mib=4)

    [finding] = find_causes(an_evidence(held))

    assert finding.message == "`joined` grows by 4.0 MiB every epoch."


def test_list_of_a_library_is_not_the_programs():
    held = a_holder(
        a_module("tensorflow.python.util"),
        a_step("._seen", "dict"),
        an_array(),
        grows="._seen",
        is_users=False,
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW404"


def a_table_of_python(mib):
    return a_holder(
        a_module("weakref"),
        a_step(".table", "dict"),
        a_step("[*]", "weakref.finalize._Info"),
        an_array("[0]"),
        grows=".table",
        added_at="train.py:14" if mib > 1 else None,
        mib=mib,
        is_users=False,
    )


def test_what_python_itself_keeps_is_told():
    [finding] = find_causes(an_evidence(a_table_of_python(4), mib=4))

    assert (finding.code, finding.where) == ("LW102", "train.py:14")
    assert finding.message.startswith(
        "A library, or Python itself, keeps more and more `weakref.finalize._Info`"
    )


def test_little_that_python_keeps_is_not_accused():
    found = find_causes(an_evidence(a_table_of_python(0.5), mib=4))

    assert [one.code for one in found] == ["LW404"]


def losses_of_torch(about):
    return a_holder(
        a_module(),
        a_step(".losses", "list"),
        a_step("[*]", "torch.Tensor", about=about),
        grows=".losses",
        mib=0.0001,
        added_at="train.py:39",
    )


def test_losses_of_torch_that_were_not_detached_have_the_memory_of_their_graphs():
    [finding] = find_causes(an_evidence(losses_of_torch("float32 () with its graph"), mib=4))

    assert (finding.code, finding.where, finding.share) == ("LW102", "train.py:39", 1.0)
    assert finding.message.startswith(
        "`losses` grows by one float32 tensor () with its graph every epoch."
    )
    assert "`losses.append(loss.item())`" in finding.fix


def test_losses_of_torch_that_were_detached_have_only_their_own():
    assert "LW102" not in {
        finding.code for finding in find_causes(an_evidence(losses_of_torch("float32 ()"), mib=4))
    }
