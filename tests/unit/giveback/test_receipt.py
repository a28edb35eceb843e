import json
from dataclasses import replace

from lowwater.giveback.receipt import Keeper, Receipt, Reserve, StepDone, Survivor
from lowwater.model import Status, TraceNode

MIB = 1 << 20


def a_receipt(**changes):
    told = {
        "name": "trial-3",
        "steps": (
            StepDone("collect cycles", int(61.2 * MIB), died={"model": 1, "layer": 3}),
            StepDone("clear Keras state", int(2.1 * MIB)),
            StepDone("gradient registry", int(88.6 * MIB), about="LW205, tensorflow#97697"),
            StepDone("trim the heap", 0, 96 * MIB),
        ),
        "freed_bytes": int(151.9 * MIB),
        "system_bytes": 96 * MIB,
        "grown_bytes": 152 * MIB,
        "freed_parts": {"malloc": int(120.4 * MIB), "python": int(31.5 * MIB), "pool": 0},
        "looked_for": "no model, optimizer, layer or variable of the block",
        "reserves": (Reserve("TensorFlow's pool", 512 * MIB, 0),),
    }
    return Receipt(**{**told, **changes})


def test_receipt_reads_as_in_the_documentation():
    assert (
        str(a_receipt())
        == """\
released trial-3: 151.9 MiB freed (of 152.0 MiB), 96.0 MiB returned to the system
  counted in use: 120.4 MiB from malloc, about 31.5 MiB of Python's small objects
  collect cycles          61.2 MiB   1 model, 3 layers freed
  clear Keras state        2.1 MiB
  gradient registry       88.6 MiB   LW205, tensorflow#97697
  trim the heap                  0   96.0 MiB to the system
still held: no model, optimizer, layer or variable of the block
returned only when the process ends: TensorFlow's pool, 512.0 MiB, all of it free for reuse"""
    )


def test_tensors_inside_the_pool_are_told_apart():
    receipt = a_receipt(freed_parts={"malloc": -MIB, "python": 100, "pool": 9 * MIB})

    assert "  counted in use: -1.0 MiB from malloc, 9.0 MiB inside TensorFlow's pool\n" in str(
        receipt
    )


def test_parts_are_not_told_where_nothing_came_back():
    receipt = a_receipt(freed_bytes=10, freed_parts={"malloc": -MIB, "python": MIB})

    assert "counted in use:" not in str(receipt)


HELD = Survivor(
    "`net` (Model)",
    "`study` is still a local of `main()`, train.py:31",
    "train.py:31",
    (
        TraceNode("", "main()", Status.NEEDED, "the call is running", "train.py:31"),
        TraceNode("local study", "<Study>", Status.UNKNOWN, "", is_suspect=True),
        TraceNode(".net", "`net` (Model)", Status.LEAKED, "it should have been released"),
    ),
)


def test_survivor_stands_with_its_holder_and_the_way_to_it():
    text = str(a_receipt(survivors=(HELD,)))

    assert (
        """
still held: `net` (Model): `study` is still a local of `main()`, train.py:31
  ┬─ train.py:31  main()
  │    needed: the call is running
  │  ~~~~~~~~~~~
  ├─ local study: <Study>
  ╰→ .net: `net` (Model)
       leaked: it should have been released
returned only when the process ends: """
        in text
    )
    assert "still held: no " not in text


def test_those_with_the_same_holders_stand_in_one_line():
    several = tuple(Survivor(f"`net_{number}` (Model)", "`nets` is a local") for number in range(5))

    text = str(a_receipt(survivors=(*several, Survivor("`other` (Model)", "`x` is a local"))))

    assert text.count("still held: ") == 2
    assert (
        "still held: `net_0` (Model), `net_1` (Model), `net_2` (Model) and 2 more: `nets` is"
        in text
    )


def test_all_holders_are_told():
    others = tuple(Keeper(f"`held_{number}` is a local", None, HELD.trace) for number in range(12))

    receipt = a_receipt(survivors=(replace(HELD, others=others),))

    lines = [line for line in str(receipt).splitlines() if line.startswith("  also: ")]
    assert lines[:2] == ["  also: `held_0` is a local", "  also: `held_1` is a local"]
    assert lines[9:] == ["  also: `held_9` is a local", "  also: 2 more variables"]
    assert "also: `held_9` is a local" in receipt._repr_html_()
    assert len(receipt.to_dict()["survivors"][0]["others"]) == 12


def test_notebook_draws_the_way_and_escapes_it():
    html = a_receipt(survivors=(HELD,))._repr_html_()

    assert "<pre>┬─ train.py:31  main()\n│    needed: the call is running\n" in html
    assert "├─ local study: &lt;Study&gt;" in html
    assert "still held: no " not in html


def test_way_to_a_survivor_is_plain_json():
    told = json.loads(json.dumps(a_receipt(survivors=(HELD,)).to_dict()))
    [held] = told["survivors"]

    assert [node["edge"] for node in held["trace"]] == ["", "local study", ".net"]
    assert type(a_receipt(survivors=(HELD,)).to_dict()["survivors"][0]["trace"][0]["status"]) is str


def test_refused_step_gives_its_reason_and_no_number():
    [line] = str(a_receipt(steps=(StepDone("clear Keras state", skipped="refused: why"),))).split(
        "\n"
    )[2:3]

    assert line == "  clear Keras state              -   refused: why"


def test_what_could_not_be_measured_is_not_zero():
    receipt = a_receipt(freed_bytes=None, steps=(StepDone("collect cycles", None, None),))

    assert str(receipt).startswith("released trial-3: bytes in use cannot be measured here")
    assert "collect cycles        not measured" in str(receipt)


def test_pool_in_part_use_says_how_much_is_free():
    receipt = a_receipt(reserves=(Reserve("TensorFlow's pool", 512 * MIB, 12 * MIB),))

    assert str(receipt).endswith("512.0 MiB, 500.0 MiB of it free for reuse")


def test_bytes_on_devices_are_told_apart():
    assert "freed, 8.0 MiB on devices, " in str(a_receipt(grown_bytes=None, device_bytes=8 * MIB))


def test_dictionary_is_plain_json():
    told = json.loads(json.dumps(a_receipt().to_dict()))

    assert told["schema"] == "lowwater.receipt/1"
    assert told["freed_bytes"] == int(151.9 * MIB)
    assert told["steps"][0]["died"] == {"model": 1, "layer": 3}


def test_notebook_shows_a_table_in_which_names_are_escaped():
    held = Survivor("`<b>`", "`x` is still a local of `<module>()`")

    html = a_receipt(survivors=(held,), notes=("a note",), emptied=("`net`",))._repr_html_()

    assert "<td>collect cycles</td>" in html
    assert "`&lt;b&gt;`" in html
    assert "<b>`" not in html
    assert "a note" in html
