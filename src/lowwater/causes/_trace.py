"""The leak trace: the path from a root to what grew, each object judged, with the reason.

Everything above a needed object is needed, everything below a leaked one is leaked.
What lies between the last needed and the first leaked is the suspect: there the mistake is.
"""

from dataclasses import replace
from itertools import groupby

from lowwater.causes import _kinds, _words
from lowwater.causes._paths import function_name
from lowwater.causes._rate import GrowthRate
from lowwater.model import Evidence, Holder, Status, Step, TraceNode
from lowwater.model.units import format_bytes

# A trace is read at a glance, or not at all.
MOST_NODES = 8
_ALWAYS = 3
_MOST_ABOVE = 3
_FEWEST_FOLDED = 3


# Objects that are there to stay; a user would not call any of them a leak by itself.
_NEEDED = (
    (_kinds.is_class, "a class lives as long as its module"),
    (_kinds.is_memo, "a function of the program"),
    (_kinds.is_registry, "a TensorFlow table that lives as long as the process"),
)


def draw_trace(holder: Holder, evidence: Evidence) -> tuple[TraceNode, ...]:
    """The nodes of the trace, root first, without the noise in between."""
    steps, container = fold(holder)
    judged = judge(steps, container, evidence)
    nodes = [
        _node(steps, i, judged, what=_what(steps, i, container, holder, evidence))
        for i in range(len(steps))
    ]
    return _shortened(steps, container, nodes)


def suspects(holder: Holder, evidence: Evidence) -> tuple[tuple[Step, Step], ...]:
    """The edges between the last needed and the first leaked object: owner and what it has."""
    steps, container = fold(holder)
    statuses = [status for status, _ in judge(steps, container, evidence)]
    return tuple(
        (steps[max(i - 1, 0)], steps[i]) for i in range(len(steps)) if _is_suspect(i, statuses)
    )


def fold(holder: Holder) -> tuple[tuple[Step, ...], int]:
    """The path without plain containers on the way, whose edges go to what they contain."""
    folded: list[Step] = []
    edge, container = "", 0
    steps = holder.steps
    while len(steps) > holder.container + 1 and _kinds.is_cell(steps[-1]):
        steps = steps[:-1]  # an empty end of the way tells nothing
    last = len(steps) - 1
    for index, step in enumerate(steps):
        edge = _joined(edge, step.edge)
        if index == holder.container:
            container = len(folded)
        elif index not in (0, last) and _is_noise(step):
            continue
        folded.append(replace(step, edge=edge))
        edge = ""
    return tuple(folded), container


def judge(
    steps: tuple[Step, ...], container: int, evidence: Evidence
) -> tuple[tuple[Status, str], ...]:
    """The status of each object, with the reason."""
    own = [_needed_because(steps, i) if i < container else None for i in range(len(steps))]
    last_needed = max((i for i, because in enumerate(own) if because), default=-1)
    return tuple(
        _judged(steps, i, (container, last_needed), own[i], evidence) for i in range(len(steps))
    )


def _judged(
    steps: tuple[Step, ...],
    index: int,
    bounds: tuple[int, int],
    because: str | None,
    evidence: Evidence,
) -> tuple[Status, str]:
    container, last_needed = bounds
    if index == container:
        return Status.LEAKED, f"grew {_words.in_every(evidence)}"
    if index > container:
        return Status.LEAKED, f"kept by the {_kinds.class_name(steps[container].type)} above"
    if because:
        return Status.NEEDED, because
    if index < last_needed:
        below = _kinds.class_name(steps[last_needed].type)
        return Status.NEEDED, f"holds the {below} below, which is needed"
    return Status.UNKNOWN, ""  # what is between needed and leaked needs no comment


def _needed_because(steps: tuple[Step, ...], index: int) -> str | None:
    step = steps[index]
    # A path begins at a frame only while that call runs.
    if _kinds.is_frame(step) and index == 0:
        return "the call is running"
    if _kinds.is_module(step):
        return "a module lives as long as the program"
    if _kinds.is_callback(step):
        is_running = _kinds.is_frame(steps[0])
        return "callback of the running fit" if is_running else "a callback passed to fit"
    return next((because for look, because in _NEEDED if look(step)), None)


def _is_suspect(index: int, statuses: list[Status]) -> bool:
    """Whether the edge that leads to this object is one that may be wrong."""
    first_leaked = statuses.index(Status.LEAKED)
    last_needed = max((i for i, one in enumerate(statuses) if one is Status.NEEDED), default=-1)
    return last_needed < index <= first_leaked


def _node(
    steps: tuple[Step, ...], index: int, judged: tuple[tuple[Status, str], ...], what: str
) -> TraceNode:
    status, because = judged[index]
    is_suspect = _is_suspect(index, [status for status, _ in judged])
    return TraceNode(steps[index].edge, what, status, because, steps[index].where, is_suspect)


def _what(
    steps: tuple[Step, ...], index: int, container: int, holder: Holder, evidence: Evidence
) -> str:
    step = steps[index]
    name = _titled(step)
    if index == container:
        return f"{_kinds.class_name(step.type)}, {_items(holder, evidence)}"
    return name + _multiplied(holder) if index == container + 1 else name


def _titled(step: Step) -> str:
    """`ndarray float32 (4096, 256)`, `module __main__`, `fit()`, `function load`."""
    if _kinds.is_frame(step) and step.about:
        return step.about
    if _kinds.is_class(step):
        return f"class {_kinds.class_name(step.about)}"
    if _kinds.is_function(step):
        return f"{_kinds.class_name(step.type)} {function_name(step)}"
    return f"{_kinds.class_name(step.type)} {step.about}".rstrip()


def _items(holder: Holder, evidence: Evidence) -> str:
    count = holder.counts[-1]
    told = "1 item" if count == 1 else f"{count:,} items"
    rate = GrowthRate.of(holder.counts, evidence)
    if rate is None or rate.each <= 0:
        return told
    much = f"{rate.each:.1f}" if rate.is_seldom else f"{rate.each:.0f}"
    return f"{told} ({rate.about}+{much} per {_words.round_name(evidence)})"


def _multiplied(holder: Holder) -> str:
    """What one new item takes, times all items; of old ones unlike it only the new are counted."""
    count, more = holder.counts[-1], holder.counts[-1] - holder.counts[0]
    size, grown = holder.sizes_bytes[-1], holder.sizes_bytes[-1] - holder.sizes_bytes[0]
    if more <= 0 or grown <= 0:
        return ""
    are_alike = 0.5 * size <= grown / more * count <= 2 * size
    times = f"{count:,}" if are_alike else f"{more:,} new"
    return f"  {format_bytes(grown / more)} × {times}"  # noqa: RUF001 - times


def _joined(before: str, edge: str) -> str:
    """Edges of a folded object and of what it contains, as one."""
    if before.endswith(".__dict__"):
        key = edge.strip("[]'\"")
        return f"{before.removesuffix('.__dict__')}.{key}"
    if edge in (".cell_contents", ".__closure__") or edge.startswith(".__closure__"):
        return before or edge
    return f"{before}{edge}"


def _is_noise(step: Step) -> bool:
    return _kinds.is_plain(step) or _kinds.is_callback_list(step)


def _shortened(
    steps: tuple[Step, ...], container: int, nodes: list[TraceNode]
) -> tuple[TraceNode, ...]:
    """The root, the container and what is heavy always stay; the ways between are made short."""
    last = max(len(nodes) - 1, container)
    above = _without_libraries(steps[1:container], nodes[1:container])
    below = _without_libraries(steps[container + 1 : last], nodes[container + 1 : last])
    room_above = max(_MOST_ABOVE, MOST_NODES - _ALWAYS - len(below))
    room_below = max(MOST_NODES - _ALWAYS - _MOST_ABOVE, MOST_NODES - _ALWAYS - len(above))
    if len(above) > room_above:
        far = len(above) - room_above + 1
        above = [_stretch(above[:far], ""), *above[far:]]
    if len(below) > room_below:
        below = [*below[: room_below - 1], _stretch(below[room_below - 1 :], "")]
    first = nodes[: min(1, container)]
    return (*first, *above, nodes[container], *below, *nodes[max(last, container + 1) :])


def _without_libraries(steps: tuple[Step, ...], nodes: list[TraceNode]) -> list[TraceNode]:
    """Long stretches inside one library become one node each."""
    kept: list[TraceNode] = []
    for library, group in groupby(range(len(nodes)), key=lambda i: _foldable(steps[i])):
        stretch = [nodes[i] for i in group]
        is_long = library is not None and len(stretch) >= _FEWEST_FOLDED
        kept += [_stretch(stretch, f" inside {library}")] if is_long else stretch
    return kept


def _foldable(step: Step) -> str | None:
    """The library whose inner workings this is; a model or a callback says something by itself."""
    tells = _kinds.is_native_backed(step) or _kinds.is_callback(step) or _kinds.is_sequence(step)
    return None if tells else _kinds.library_of(step)


def _stretch(nodes: list[TraceNode], inside: str) -> TraceNode:
    first = nodes[0]
    return replace(
        first,
        what=f"… {len(nodes)} more{inside}",
        where=None,
        is_suspect=any(node.is_suspect for node in nodes),
    )
