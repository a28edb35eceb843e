"""The records of a recording, as msgspec structs; version 2 of the format."""

from typing import Annotated, Any, TypeAlias

import msgspec

from lowwater.model import Holder, Mending, NativeSite, Tally, Topic
from lowwater.model.autopsy import Scene
from lowwater.model.devices import Device
from lowwater.model.guard import Guarded

# Checked when a recording is read, and only then. What is measured may be off and is not checked.
_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class _Record(msgspec.Struct, array_like=True, gc=False):
    """Arrays, not maps: a million boundaries have to stay small."""


class Identified(_Record, tag="run"):
    """Stands first, and is the same in no other recording."""

    identity: str


class Began(_Record, tag="began"):
    """The agent's first record: who recorded what. Holds no arguments and no secrets."""

    environment: dict[str, str]


class Learned(_Record, tag="learned"):
    """More about the environment, known only later (the framework's version, say)."""

    environment: dict[str, str]


class UnitSeen(_Record, tag="unit"):
    """A unit passed its first boundary."""

    id: _Number
    name: str
    where: str | None


class Columns(_Record, tag="columns"):
    """The gauges of all samples from here on; a probe may appear late."""

    names: Annotated[list[str], msgspec.Meta(max_length=256)]


class Sampled(_Record, tag="s"):
    """One sample; `values` follow the latest `Columns`."""

    unit_id: _Number
    ordinal: _Number
    elapsed_us: _Number
    values: list[int | None]


class Passed(_Record, tag="moment"):
    """The start or the end of the run; `values` follow the latest `Columns`."""

    name: str
    elapsed_us: _Number
    values: list[int | None]


class Failed(_Record, tag="failed"):
    """The exception that ended the script: its type, and one line of its message."""

    error: str
    out_of_memory: bool


class FoundNoRoom(_Record, tag="no room"):
    """TensorFlow has raised an error of memory; the program may have caught it."""

    elapsed_us: _Number
    error: str
    where: str | None


class RanOut(_Record, tag="oom"):
    """What was seen where memory ran out: by the agent, or what the supervisor knows of it."""

    scene: Scene


class Collected(_Record, tag="gc"):
    """One garbage collection made as an experiment, with the bytes in use around it."""

    unit_id: _Number
    ordinal: _Number
    elapsed_us: _Number
    before_bytes: int
    after_bytes: int


class Unmeasured(_Record, tag="unmeasured"):
    """A probe has no answer, and why; None once it has one after all."""

    probe: str
    why: str | None


class Noted(_Record, tag="note"):
    """A sentence for the reader of the report; `topic` is one of `model.Topic`."""

    elapsed_us: _Number
    text: str
    # Plain text: for any other default msgspec imports `copy` when a record is made.
    topic: str = Topic.PROGRAM.value


class Counted(_Record, tag="census"):
    """One look at all objects, with the bytes in use at that moment."""

    unit_id: _Number
    ordinal: _Number
    elapsed_us: _Number
    took_us: _Number
    in_use_bytes: int
    objects: _Number
    ordinals: tuple[int, ...]
    native_bytes: int | None = None


class Weighed(_Record, tag="weighed"):
    """The bytes of all objects of the last census, and those of the large ones among them.

    `starts_over` says that the censuses before it have looked at other objects: beside this one,
    and those to come, they tell nothing.
    """

    objects_bytes: int
    large_bytes: int
    starts_over: bool = False


class Held(_Record, tag="held"):
    """The paths that grew over all censuses so far; replaces what was recorded before."""

    holders: Annotated[list[Holder], msgspec.Meta(max_length=100)]


class Tallied(_Record, tag="tallies"):
    """What was counted at all censuses so far; replaces what was recorded before."""

    tallies: Annotated[list[Tally], msgspec.Meta(max_length=1000)]


class NativeTraced(_Record, tag="native"):
    """memray has begun to watch; again, with all fields, when it has watched enough rounds.

    `files` are the program's own, by a checksum of their path, and how reports call them.
    """

    rounds: _Number = 0
    grown_bytes: int = 0
    files: dict[int, str] = {}


class NativeSites(_Record, tag="sites"):
    """What memray saw, as the supervisor read it after the run; the largest first."""

    sites: Annotated[list[NativeSite], msgspec.Meta(max_length=100)]


class Mended(_Record, tag="mended"):
    """What became of the repairs of libraries; replaces what was recorded before."""

    mendings: Annotated[list[Mending], msgspec.Meta(max_length=100)]


class Spent(_Record, tag="spent"):
    """What watching has cost the program, up to its end."""

    samples: _Number
    sampling_us: _Number
    collections: _Number
    collecting_us: _Number
    censuses: _Number = 0
    census_us: _Number = 0
    process_us: _Number = 0


class SeenOutside(_Record, tag="outside"):
    """The supervisor's view of the process."""

    elapsed_us: _Number
    anon_bytes: _Number


class DevicesFound(_Record, tag="devices"):
    """The accelerators that a framework has set up in the program."""

    devices: Annotated[list[Device], msgspec.Meta(max_length=64)]


class GpuFound(_Record, tag="gpu"):
    """A GPU of the driver, as the supervisor has found it."""

    index: _Number
    name: str
    uuid: str
    total_bytes: _Number
    is_mig: bool = False


class GpuSeen(_Record, tag="g"):
    """What the driver says of a GPU, at both ends of each time in which nothing changed."""

    elapsed_us: _Number
    index: _Number
    used_bytes: _Number
    free_bytes: _Number
    ours_bytes: _Number | None


class Ended(_Record, tag="ended"):
    """The supervisor's last word."""

    elapsed_us: _Number
    exit_code: int | None
    signal: _Number | None
    out_of_memory: bool
    peak_rss_bytes: _Number | None


class GuardActed(_Record, tag="guard"):
    """The guard has ended training; again, with all fields, when there is more to tell."""

    guarded: Guarded


class FactsTold(_Record, tag="facts"):
    """What a run of an experiment says of itself, by `model.experiment.Fact`, as plain data.

    What is told again replaces what was told before.
    """

    facts: dict[str, Any]


class Experimented(_Record, tag="experiments"):
    """What `lowwater diagnose` has found in runs with changes; this recording is the first run.

    As plain data: no program that is watched has to load the words for it.
    """

    experiments: dict[str, Any]


Record: TypeAlias = (
    Identified
    | Began
    | Learned
    | UnitSeen
    | Columns
    | Sampled
    | Passed
    | Failed
    | FoundNoRoom
    | RanOut
    | Collected
    | Counted
    | Weighed
    | Held
    | Tallied
    | NativeTraced
    | NativeSites
    | Unmeasured
    | Noted
    | Mended
    | Spent
    | SeenOutside
    | DevicesFound
    | GpuFound
    | GpuSeen
    | Ended
    | GuardActed
    | FactsTold
    | Experimented
)

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Record).decode
