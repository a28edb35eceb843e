"""What the first run has shown of the program, as far as the factors need it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from lowwater.diagnose.paths import Hop
from lowwater.model import Finding
from lowwater.model.experiment import Fact

_LISTS = ("inputs", "buffers", "generators")
# With so many different shapes there may be ever new ones.
MANY_SHAPES = 4

# The causes whose line adds to something of the program's own.
_KEPT_BY_THE_PROGRAM = frozenset(
    "LW101 LW102 LW103 LW104 LW105 LW106 LW107 LW201 LW208 LW303".split()
)

_OPEN_SESSION = "LW204"
_TAPE = "LW208"
# What these have found is tested in another way: `mend()` lets the registry go, and a graph of
# TensorFlow 1 has no item that could be taken out.
_NOT_CUT = frozenset({"LW203", "LW205"})


@dataclass(frozen=True, slots=True)
class HeldFact:
    """What a finding says is held: how the finding is known, the containers, the ways to them."""

    finding: str
    code: str
    names: tuple[str, ...]
    where: str | None
    paths: tuple[tuple[Hop, ...], ...]

    @property
    def detail(self) -> str:
        """How an experiment with it alone is known: by its line, as far as it has one."""
        return self.where or self.names[0]


@dataclass(frozen=True, slots=True)
class Facts:
    """Which callbacks and data `fit` was given, and where it can run."""

    # How often one model was fitted; more than two are not counted.
    fits: int = 0
    # Different models that were fitted; more than two are not counted.
    models: int = 0
    # The program's own callbacks: class -> where it is defined.
    callbacks: Mapping[str, str] = field(default_factory=dict)
    # And where their code is: class -> `train.py:7-19`.
    spans: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    # The methods of `tf.data` that keep elements, as far as the program calls them.
    buffers: tuple[str, ...] = ()
    # Where `tf.data` calls Python code of the program, by the name of what takes it.
    generators: tuple[str, ...] = ()
    # Whether a loop of the program goes over a data set of TensorFlow itself.
    iterates_datasets: bool = False
    # Of the rows that Keras was given, up to `MANY_SHAPES`.
    shapes: int = 0
    backend: str = ""
    gpus: int = 0
    has_tensorflow: bool = True
    has_jax: bool = False
    # Lines that add to a container, by the findings of the first run: line -> the container.
    additions: Mapping[str, str] = field(default_factory=dict)
    leaves_sessions: bool = False
    # Whether a gradient tape was open all the time: no path leads to what it has recorded.
    leaves_tapes: bool = False
    # What the findings of the first run say is held, the largest share first.
    held: tuple[HeldFact, ...] = ()
    # The codes of those findings, and the unit that the growth is told by.
    found: tuple[str, ...] = ()
    unit: tuple[str, str | None] = ("", None)

    def to_record(self) -> dict[str, Any]:
        """For the recording."""
        return {Fact.SEEN: asdict(self)}

    @classmethod
    def of(
        cls,
        environment: Mapping[str, str],
        findings: Iterable[Finding] = (),
        told: Mapping[str, Any] = MappingProxyType({}),
    ) -> "Facts":
        """What a recording has told, and what was found in it; nothing where it tells nothing."""
        known = told.get(Fact.SEEN, {})
        lists = {name: tuple(known.get(name, ())) for name in _LISTS}
        # The version of each framework that was imported stands beside it.
        frameworks = {f"has_{name}": name in environment for name in ("tensorflow", "jax")}
        found = [*findings]
        kept = (one for one in found if one.code in _KEPT_BY_THE_PROGRAM)
        seen: dict[str, Any] = {
            "found": tuple(one.code for one in found),
            "held": tuple(_held(found)),
            "additions": {one.where: one.holder for one in kept if one.where and one.holder},
            "leaves_tapes": any(one.code == _TAPE and not one.paths for one in found),
            "leaves_sessions": any(one.code == _OPEN_SESSION for one in found),
        }
        return cls(**{**known, **lists, **frameworks, **seen, "unit": ("", None)})


def _held(findings: Iterable[Finding]) -> Iterator[HeldFact]:
    """Two findings at one line are told apart by what holds."""
    # Not in the watched process, which needs the words of this module and no causes.
    from lowwater.causes._paths import path_name

    known: set[str] = set()
    for one in findings:
        if not one.paths or one.code in _NOT_CUT:
            continue
        # What a program calls its own says more than the inner name of a library.
        own = [one.holder] if one.holder is not None and one.library is None else []
        names = tuple(dict.fromkeys(own or map(path_name, one.paths)))
        paths = tuple(tuple(map(Hop.of, path)) for path in one.paths)
        held = HeldFact(one.identity, one.code, names, one.where, paths)
        if held.detail in known:
            held = replace(held, where=None)
        known.add(held.detail)
        yield held
