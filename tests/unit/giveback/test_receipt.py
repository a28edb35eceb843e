import json

from lowwater.giveback.receipt import Receipt, Reserve, StepDone, Survivor
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
        "reserves": (Reserve("TensorFlow's pool", 512 * MIB, 0),),
    }
    return Receipt(**{**told, **changes})


def test_receipt_reads_as_in_the_documentation():
    assert (
        str(a_receipt())
        == """\
released trial-3: 151.9 MiB in use given back (of 152.0 MiB), 96.0 MiB returned to the system
  collect cycles          61.2 MiB   1 model, 3 layers died
  clear Keras state        2.1 MiB
  gradient registry       88.6 MiB   LW205, tensorflow#97697
  trim the heap                  0   96.0 MiB to the system
still held: nothing
only the end of the process returns: TensorFlow's pool, 512.0 MiB, all of it free for reuse"""
    )


HELD = Survivor(
    "`net` (Model)",
    "`study` is still a local of `main()`, train.py:31",
    "train.py:31",
    (
        TraceNode("", "main()", Status.NEEDED, "the call is running", "train.py:31"),
        TraceNode("local study", "<Study>", Status.UNKNOWN, "", is_suspect=True),
        TraceNode(".net", "`net` (Model)", Status.LEAKED, "it was to be given back"),
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
       leaked: it was to be given back
only the end"""
        in text
    )
    assert "still held: nothing" not in text


def test_notebook_draws_the_way_and_escapes_it():
    html = a_receipt(survivors=(HELD,))._repr_html_()

    assert "<pre>┬─ train.py:31  main()\n│    needed: the call is running\n" in html
    assert "├─ local study: &lt;Study&gt;" in html
    assert "still held: nothing" not in html


def test_way_to_a_survivor_is_plain_json():
    told = json.loads(json.dumps(a_receipt(survivors=(HELD,)).to_dict()))
    [held] = told["survivors"]

    assert [node["edge"] for node in held["trace"]] == ["", "local study", ".net"]
    assert type(a_receipt(survivors=(HELD,)).to_dict()["survivors"][0]["trace"][0]["status"]) is str


def test_refused_step_gives_its_reason_and_no_number():
    [line] = str(a_receipt(steps=(StepDone("clear Keras state", skipped="refused: why"),))).split(
        "\n"
    )[1:2]

    assert line == "  clear Keras state              -   refused: why"


def test_what_could_not_be_measured_is_not_zero():
    receipt = a_receipt(freed_bytes=None, steps=(StepDone("collect cycles", None, None),))

    assert str(receipt).startswith("released trial-3: bytes in use could not be measured here")
    assert "collect cycles        not measured" in str(receipt)


def test_pool_in_part_use_says_how_much_is_free():
    receipt = a_receipt(reserves=(Reserve("TensorFlow's pool", 512 * MIB, 12 * MIB),))

    assert str(receipt).endswith("512.0 MiB, 500.0 MiB of it free for reuse")


def test_bytes_on_devices_are_told_apart():
    assert "given back, 8.0 MiB on devices, " in str(
        a_receipt(grown_bytes=None, device_bytes=8 * MIB)
    )


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
