"""A leak trace is drawn from the root to what grew, and fits wherever it is drawn."""

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from lowwater.model import Status, TraceNode
from lowwater.report.leak_trace import LeakTrace, in_brief

ROOT = TraceNode("", "module __main__", Status.NEEDED, "the program itself")
KEPT = TraceNode(".kept", "list, 12 items", Status.UNKNOWN, "grew", "train.py:3", is_suspect=True)
GREW = replace(KEPT, status=Status.LEAKED)
ITEM = TraceNode("[*]", "ndarray  4.0 MiB", Status.LEAKED, "its epoch is over")


def drawn(*nodes: TraceNode, width: int = 60, colour: bool = False) -> list[str]:
    file = io.StringIO()
    console = Console(
        file=file, width=width, color_system="standard" if colour else None, _environ={}
    )
    console.print(LeakTrace(nodes))
    return [line.rstrip() for line in file.getvalue().split("\n")[:-1]]


def test_trace_leads_from_the_root_to_what_grew() -> None:
    assert drawn(ROOT, KEPT, ITEM) == [
        "┬─ module __main__",
        "│    needed: the program itself",
        "│   ~~~~",
        "├─ .kept: list, 12 items           train.py:3",
        "│    unknown: grew",
        "╰→ [*]: ndarray  4.0 MiB",
        "     leaked: its epoch is over",
    ]


def test_trace_of_two_nodes_has_no_middle() -> None:
    assert drawn(ROOT, ITEM) == [
        "┬─ module __main__",
        "│    needed: the program itself",
        "╰→ [*]: ndarray  4.0 MiB",
        "     leaked: its epoch is over",
    ]


def test_trace_of_one_node_hangs_on_nothing() -> None:
    assert drawn(KEPT) == [
        "    ~~~~",
        "╰→ .kept: list, 12 items           train.py:3",
        "     unknown: grew",
    ]


def test_trace_without_nodes_draws_nothing() -> None:
    assert drawn() == []


def test_place_of_a_root_comes_before_what_stands_there() -> None:
    call = TraceNode("", "model.fit(…)", Status.NEEDED, "it is running", "train.py:22")

    assert drawn(call, ITEM)[0] == "┬─ train.py:22  model.fit(…)"


def test_node_without_a_reason_has_no_line_for_it() -> None:
    told = TraceNode("", "ndarray", Status.LEAKED, "")

    assert drawn(ROOT, told)[2:] == ["╰→ ndarray"]


def test_underline_is_as_wide_as_the_name_without_its_dot() -> None:
    frame = TraceNode("local net", "Sequential", Status.UNKNOWN, "", is_suspect=True)
    wide = TraceNode("['重み']", "dict", Status.UNKNOWN, "", is_suspect=True)

    assert drawn(ROOT, frame)[2:] == ["│  ~~~~~~~~~", "╰→ local net: Sequential"]
    assert drawn(ROOT, wide)[2:] == ["│  ~~~~~~~~", "╰→ ['重み']: dict"]


def test_long_name_is_cut_before_its_place() -> None:
    long = TraceNode(".cache", "VeryLong" * 20, Status.LEAKED, "", "train.py:3")

    assert drawn(ROOT, long)[2] == "╰→ .cache: VeryLongVeryLongVeryLongVeryLongVery…  train.py:3"


def test_long_path_keeps_its_end() -> None:
    deep = TraceNode(".kept", "list", Status.LEAKED, "", "folder/" * 20 + "train.py:3")

    assert drawn(ROOT, deep)[2] == "╰→ .kept: list                  …er/folder/folder/train.py:3"


def test_long_reason_is_wrapped_along_the_rail() -> None:
    root = TraceNode("", "dict", Status.NEEDED, "one of the reasons that do not fit")

    assert drawn(root, ITEM, width=30)[1:3] == [
        "│    needed: one of the",
        "│    reasons that do not fit",
    ]


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 20, 40])
def test_no_line_is_wider_than_there_is_room(width: int) -> None:
    long = TraceNode(
        ".重み" * 40, "x" * 500, Status.LEAKED, "because " * 9, "é" * 99, is_suspect=True
    )

    assert all(cell_len(line) <= width for line in drawn(ROOT, long, ITEM, width=width))


def test_names_cannot_steer_the_terminal_or_break_the_lines() -> None:
    evil = "\x1b[2J\r\n\u2028\x85\u202eevil\x07"
    node = TraceNode(evil, evil, Status.LEAKED, evil, where=evil, is_suspect=True)

    lines = drawn(ROOT, node)

    assert len(lines) == 5
    assert "".join(lines).isprintable()


def test_colours_tell_the_status_and_suspects_are_bold() -> None:
    lines = drawn(ROOT, KEPT, ITEM, colour=True)

    assert "\x1b[32mneeded\x1b[0m: the program itself" in lines[1]
    assert "\x1b[1m~~~~\x1b[0m" in lines[2]
    assert "\x1b[1m.kept\x1b[0m: list, 12 items" in lines[3]
    assert "\x1b[2munknown\x1b[0m: grew" in lines[4]
    assert "\x1b[1m" not in lines[5]
    assert "\x1b[31mleaked\x1b[0m: its epoch is over" in lines[6]


def test_first_look_leaves_out_what_lies_between_and_why_it_was_kept() -> None:
    below = [replace(ITEM, edge=f".part{n}") for n in range(1, 5)]

    assert drawn(*in_brief((ROOT, GREW, *below))) == [
        "┬─ module __main__",
        "│    needed: the program itself",
        "│   ~~~~",
        "├─ .kept: list, 12 items           train.py:3",
        "│    leaked: grew",
        "├─ .part1: ndarray  4.0 MiB",
        "╰→ … .part4: ndarray  4.0 MiB",
    ]


def test_first_look_marks_only_the_edge_to_what_grew() -> None:
    suspect = replace(KEPT, edge=".owner", because="")

    assert drawn(*in_brief((ROOT, suspect, GREW))).count("│   ~~~~") == 1
    assert drawn(*in_brief((ROOT, suspect, GREW), reasons=False))[1] == (
        "├─ .owner: list, 12 items          train.py:3"
    )


def test_first_look_at_a_trace_in_which_nothing_leaked_leaves_its_reasons() -> None:
    assert in_brief((ROOT, KEPT)) == (ROOT, KEPT)
    assert in_brief(()) == ()
