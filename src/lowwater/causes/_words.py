"""How causes speak: what grew, by how much, and with every what."""

from lowwater.causes import _kinds
from lowwater.causes._paths import below
from lowwater.causes._rate import NO_UNIT, GrowthRate
from lowwater.model import Evidence, Holder, Step, Tally, Unit
from lowwater.model.units import format_bytes
from lowwater.verdict import words

_BUILTINS = {"str": "string", "bytes": "bytes object", "NoneType": "None"}


def unit_of(evidence: Evidence) -> Unit:
    """The round trip that the verdict speaks of."""
    return evidence.verdict.unit or NO_UNIT


def round_name(evidence: Evidence) -> str:
    """`epoch`, `fit call`, `model built`."""
    return words.one(unit_of(evidence))


def every(evidence: Evidence) -> str:
    """`every epoch`, `every fit call`, `with every model built`."""
    unit = unit_of(evidence)
    return f"with every {words.one(unit)}" if _is_event(unit) else f"every {words.one(unit)}"


def in_every(evidence: Evidence) -> str:
    """`in every epoch`, `with every model built`."""
    unit = unit_of(evidence)
    return f"with every {words.one(unit)}" if _is_event(unit) else f"in every {words.one(unit)}"


def grows(holder: Holder, evidence: Evidence) -> str:
    """`grows by one float32 array (4096, 256) every epoch`, with what was measured."""
    added, payload = grows_by(holder, evidence), _payload(holder)
    return f"{added}; most of each is {payload}" if payload else added


def rate(counts: tuple[int, ...], noun: str, nouns: str, evidence: Evidence) -> str:
    """`one array every epoch`, `about 3 arrays every epoch`, `one array every 4 epochs`."""
    growth = GrowthRate.of(counts, evidence)
    if growth is None or growth.each <= 0:
        return f"{_amount(counts[-1] - counts[0], noun, nouns)} while it was watched"
    rounds = round(1 / growth.each)
    if growth.is_seldom and rounds > 1:
        return f"one {noun} every {words.counted(rounds, unit_of(evidence))}"
    return f"{growth.about}{_amount(max(1, round(growth.each)), noun, nouns)} {every(evidence)}"


def often(tally: Tally, evidence: Evidence) -> str:
    """`once every epoch`, `8 times every epoch`."""
    return rise(tally, "time", "times", evidence).replace("one time", "once", 1)


def rise(tally: Tally, noun: str, nouns: str, evidence: Evidence) -> str:
    """How fast a tally rises, in the same words."""
    return rate(tally.counts, noun, nouns, evidence)


def one(step: Step) -> str:
    """`a float32 array (4096, 256)`, `an int8 array (8,)`, `a uint8 array (8,)`."""
    noun = named(step)
    said = noun.lstrip("`").lower()
    begins_with_a_vowel = said[:1] in set("aeiou") and not said.startswith("uint")
    return f"an {noun}" if begins_with_a_vowel else f"a {noun}"


def named(step: Step, *, many: bool = False) -> str:
    """`float32 array (4096, 256)`, `` `Session` object ``, `tuple`."""
    dtype, _, shape = step.about.partition(" ")
    for look, noun in _NOUNS:
        if look(step):
            return " ".join(part for part in (dtype, noun + "s" * many, shape) if part)
    name = _kinds.class_name(step.type)
    if "." not in step.type or step.type.startswith("builtins."):
        return _BUILTINS.get(name, name) + "s" * many
    return f"`{name}` object" + "s" * many


_NOUNS = (
    (_kinds.is_array, "array"),
    (_kinds.is_tensor, "tensor"),
    (_kinds.is_variable, "variable"),
)


def grows_by(holder: Holder, evidence: Evidence) -> str:
    if holder.counts[-1] > holder.counts[0]:
        item = below(holder)[0] if below(holder) else Step("", "item")
        added = rate(holder.counts, named(item), named(item, many=True), evidence)
        return f"grew by {added}" if added.endswith("watched") else f"grows by {added}"
    growth = GrowthRate.of(holder.sizes_bytes, evidence)
    if growth is None:
        grown = holder.sizes_bytes[-1] - holder.sizes_bytes[0]
        return f"grew by {format_bytes(grown)} while it was watched"
    return f"grows by {format_bytes(growth.each)} {every(evidence)}"


def _payload(holder: Holder) -> str | None:
    """What is heavy in an item, where the item itself is not."""
    parts = below(holder)
    is_told = len(parts) > 1 and any(look(parts[-1]) for look, _ in _NOUNS)
    # An array may hold another of its own size: said once.
    return one(parts[-1]) if is_told and named(parts[-1]) != named(parts[0]) else None


def _amount(count: int, noun: str, nouns: str) -> str:
    return f"one {noun}" if count == 1 else f"{count:,} {nouns}"


def _is_event(unit: Unit) -> bool:
    return unit.name in ("model", "session")
