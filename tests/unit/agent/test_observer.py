"""The observer samples at a bearable pace, notes its failures, and stays small."""

import gc
import itertools
import sys
import weakref

import pytest

from lowwater.agent.clocks import Clocks
from lowwater.agent.escalation import Means
from lowwater.agent.journal import Journal
from lowwater.agent.observer import MOST_LOOPS, SHARE, Observer
from lowwater.agent.readings import Readings
from lowwater.model import NotMeasured, Reading, gauges
from lowwater.recording.reader import load
from lowwater.recording.records import Held, Tallied
from lowwater.recording.writer import Writer
from lowwater.testing import a_holder, a_module, a_tally, an_array

MIB = 1 << 20


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s


class Heap:
    """A probe of a made-up heap; reading it may take time on the made-up clock."""

    name = "glibc"

    def __init__(self, clock, cost_s=0.0):
        self.clock, self.cost_s, self.used, self.reads = clock, cost_s, 100 * MIB, 0

    def read(self):
        self.clock.now_s += self.cost_s
        self.reads += 1
        return Reading({"heap_used": self.used, "mmap_used": 0})


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.lw"


@pytest.fixture
def journal(path, clock):
    return Journal(Writer(str(path)), Clocks(clock, clock, clock))


def observer(path, clock, *probes, inquire=None):
    journal = Journal(Writer(str(path)), Clocks(clock, clock, clock))
    return Observer(journal, Readings(probes, journal), Means(inquire))


def test_every_boundary_of_a_slow_unit_is_sampled(path, clock):
    watching = observer(path, clock, Heap(clock, cost_s=0.0001))
    unit = watching.unit_id("epoch")
    for ordinal in range(1, 13):
        clock.now_s += 1
        watching.boundary(unit, ordinal)
    watching.finish()

    assert [sample.ordinal for sample in load(path).samples] == [*range(1, 13)]


def test_a_fast_unit_costs_no_more_than_its_share_beside_what_every_unit_gets(path, clock):
    heap = Heap(clock, cost_s=0.0002)
    watching = observer(path, clock, heap)
    unit = watching.unit_id("train_on_batch")
    for ordinal in range(1_000_000):
        clock.now_s += 0.001
        watching.boundary(unit, ordinal)

    allowed = SHARE * clock.now_s / 0.0002
    assert 0.9 * allowed < heap.reads <= allowed + 336


def sampled_rounds(path, round_s, rounds, busy=1.0):
    """The rounds of a unit that are sampled; `busy` is how much longer they take by the wall."""
    wall, processor = Clock(), Clock()
    journal = Journal(Writer(str(path)), Clocks(wall, processor, processor))
    watching = Observer(journal, Readings([Heap(processor, cost_s=0.0002)], journal))
    unit = watching.unit_id("iteration")
    for ordinal in range(rounds):
        wall.now_s += round_s * busy
        processor.now_s += round_s
        watching.boundary(unit, ordinal)
    watching.boundary(unit, rounds, at_end=True)
    watching.finish()
    return [sample.ordinal for sample in load(path).samples]


@pytest.mark.parametrize("round_s", [0.00001, 0.001, 0.1])
def test_a_busy_machine_changes_no_round_that_is_sampled(tmp_path, round_s):
    quiet = sampled_rounds(tmp_path / "quiet", round_s, 2000)
    busy = sampled_rounds(tmp_path / "busy", round_s, 2000, busy=7.0)

    assert busy == quiet
    assert busy[:128] == [*range(128)]
    assert busy[-1] >= 1990


def test_the_samples_of_a_fast_loop_are_as_many_in_every_doubling(path):
    at = sampled_rounds(path, 0.00001, 100_000)
    doublings = [sum(low <= one < 2 * low for one in at) for low in (128 << k for k in range(9))]

    assert all(14 <= count <= 18 for count in doublings), doublings


def test_what_happens_every_few_rounds_does_not_hide_from_the_samples_of_a_fast_loop(path):
    at = sampled_rounds(path, 0.00001, 100_000)[128:]

    for every in (2, 3, 4, 7, 8, 10, 16):
        assert len({one % every for one in at}) == every


def test_a_fast_unit_does_not_silence_a_slow_one(path, clock):
    watching = observer(path, clock, Heap(clock, cost_s=0.0002))
    fast, slow = watching.unit_id("predict"), watching.unit_id("epoch")
    for ordinal in range(10_000):
        clock.now_s += 0.001
        watching.boundary(fast, ordinal)
        if ordinal % 500 == 0:
            watching.boundary(slow, ordinal // 500)
    watching.finish()

    slow_samples = [sample for sample in load(path).samples if sample.unit_id == slow]
    assert len(slow_samples) == 20


def test_a_failing_probe_is_not_measured_and_costs_nothing_of_the_others(path, clock):
    class Broken:
        name = "broken"

        def read(self):
            raise RuntimeError("no such sensor")

    class Sound:
        name = "sound"

        def read(self):
            return Reading({"functions": 3})

    watching = observer(path, clock, Broken(), Sound())
    unit = watching.unit_id("epoch")
    for ordinal in range(5):
        watching.boundary(unit, ordinal)
    watching.finish()

    timeline = load(path)
    assert timeline.unmeasured == {"broken": "RuntimeError: no such sensor"}
    assert [sample.gauges["functions"] for sample in timeline.samples] == [3] * 5


def test_a_probe_that_finds_its_source_later_is_no_longer_called_unmeasured(path, clock):
    answers = iter([NotMeasured("not yet"), Reading({"functions": 3})])

    class Late:
        name = "tensorflow"

        def read(self):
            return next(answers)

    watching = observer(path, clock, Heap(clock), Late())
    unit = watching.unit_id("epoch")
    watching.boundary(unit, 0)
    assert load(path).unmeasured == {"tensorflow": "not yet"}
    watching.boundary(unit, 1)
    watching.finish()

    timeline = load(path)
    assert timeline.unmeasured == {}
    assert [sample.gauges.get("functions") for sample in timeline.samples] == [None, 3]


def test_a_rise_is_answered_by_a_collection_and_a_flat_run_is_not(path, clock, monkeypatch):
    collections = []
    monkeypatch.setattr(gc, "collect", lambda: collections.append(1))
    heap = Heap(clock)
    watching = observer(path, clock, heap)
    flat, rising = watching.unit_id("flat"), watching.unit_id("rising")
    for ordinal in range(30):
        watching.boundary(flat, ordinal)
    assert collections == []
    for ordinal in range(30):
        heap.used += MIB
        watching.boundary(rising, ordinal)
    watching.finish()

    recorded = load(path).collections
    assert len(recorded) == len(collections) > 2
    assert all(c.freed_bytes == 0 for c in recorded)


def test_the_end_of_a_rising_loop_is_collected_however_fast_it_was(path, clock, monkeypatch):
    monkeypatch.setattr(gc, "collect", lambda: setattr(clock, "now_s", clock.now_s + 0.1))
    heap = Heap(clock)
    watching = observer(path, clock, heap)
    unit = watching.unit_id("iteration")
    for ordinal in range(60):
        clock.now_s += 0.005
        heap.used += MIB
        watching.boundary(unit, ordinal)
    watching.boundary(unit, 60, at_end=True)
    watching.finish()

    assert [c.ordinal for c in load(path).collections][-1] == 60


def test_the_end_of_a_loop_is_sampled_when_the_budget_is_used_up(path, clock):
    watching = observer(path, clock, Heap(clock, cost_s=0.001))
    unit = watching.unit_id("iteration")
    for ordinal in range(1000):
        clock.now_s += 0.0001
        watching.boundary(unit, ordinal)
    watching.boundary(unit, 1000, at_end=True)
    watching.finish()

    ordinals = [sample.ordinal for sample in load(path).samples]
    assert ordinals[-1] == 1000
    assert len(ordinals) <= 128 + 3 * 16 + 1


def test_what_a_collection_frees_is_recorded(path, clock, monkeypatch):
    heap = Heap(clock)

    def collect():
        heap.used = 100 * MIB

    monkeypatch.setattr(gc, "collect", collect)
    watching = observer(path, clock, heap)
    unit = watching.unit_id("predict")
    for ordinal in range(10):
        heap.used += MIB
        watching.boundary(unit, ordinal)
    watching.finish()

    first = load(path).collections[0]
    assert first.after_bytes == 100 * MIB
    assert first.freed_bytes >= 4 * MIB


def test_too_many_loops_are_a_note_and_the_framework_still_has_its_place(path, clock):
    watching = observer(path, clock, Heap(clock))
    ids = [watching.unit_id("iteration", f"train.py:{line}") for line in range(MOST_LOOPS + 5)]
    epochs = watching.unit_id("epoch")
    watching.finish()

    assert ids[-5:] == [None] * 5
    assert epochs == MOST_LOOPS
    assert "not watched" in load(path).notes[0].text


def test_the_heartbeat_samples_only_where_nothing_else_does(path, clock):
    watching = observer(path, clock, Heap(clock))
    unit = watching.unit_id("epoch")
    for second in range(10):
        clock.now_s = second + 0.5
        watching.boundary(unit, second)
        clock.now_s += 0.1
        watching.heartbeat()
    for second in range(10, 20):
        clock.now_s = second + 0.5
        watching.heartbeat()
    watching.finish()

    names = {unit.id: unit.name for unit in load(path).units}
    by_time = [s.ordinal for s in load(path).samples if names[s.unit_id] == "time"]
    assert by_time == [*range(10, 20)]


def test_the_heartbeat_never_collects_for_the_collector_calls_it(path, clock, monkeypatch):
    collections = []
    monkeypatch.setattr(gc, "collect", lambda: collections.append(1))
    heap = Heap(clock)
    watching = observer(path, clock, heap)
    for second in range(60):
        clock.now_s = second + 0.5
        heap.used += 8 * MIB
        watching.heartbeat()
    watching.finish()

    assert collections == []
    assert len(load(path).samples) > 50


def test_after_a_fork_the_child_writes_nothing(path, clock, journal):
    watching = Observer(journal, Readings([Heap(clock)], journal))
    unit = watching.unit_id("epoch")
    watching.boundary(unit, 0)
    size = path.stat().st_size
    watching.abandon()
    watching.boundary(unit, 1)
    journal.note("nobody hears this")
    watching.finish()

    assert path.stat().st_size == size


def test_a_million_boundaries_stay_under_8_mb_of_file_and_16_mb_of_memory(path, clock):
    heap = Heap(clock)
    watching = observer(path, clock, heap)
    units = [watching.unit_id("iteration", f"train.py:{line}") for line in range(8)]
    blocks_before = sys.getallocatedblocks()
    for ordinal in range(125_000):
        clock.now_s += 1
        heap.used = 100 * MIB + (ordinal * 7919) % MIB
        for unit in units:
            watching.boundary(unit, ordinal)
    blocks = sys.getallocatedblocks() - blocks_before
    watching.finish()

    assert heap.reads >= 1_000_000
    assert path.stat().st_size < 8_000_000
    # Were each of them as large as CPython's small blocks get:
    assert blocks * 512 < 16_000_000
    assert len(load(path).samples) > 8 * 1000


class Inquiry:
    """Looks at all objects, as far as the observer can tell; takes a second by the clock."""

    def __init__(self, clock, fails=None):
        self.clock, self.fails, self.seen = clock, fails, []

    def __call__(self, in_use_bytes, _risen_bytes):
        self.clock.now_s += 1.0
        self.seen.append(in_use_bytes)
        if self.fails is not None:
            raise self.fails
        holder = a_holder(a_module(), an_array(".saved"), grows=".saved")
        return 300_000, (Held([holder]), Tallied([a_tally("call", "fit")]))


def rising_run(path, clock, inquiry, rounds=40, mib=1):
    heap = Heap(clock, cost_s=0.0001)
    watching = observer(path, clock, heap, inquire=inquiry)
    unit = watching.unit_id("epoch")
    for ordinal in range(1, rounds + 1):
        clock.now_s += 1
        heap.used += round(mib * MIB)
        watching.boundary(unit, ordinal, at_end=ordinal == rounds)
    watching.finish()
    return load(path)


def test_censuses_of_a_rising_run_are_recorded_with_what_they_found(path, clock):
    inquiry = Inquiry(clock)
    timeline = rising_run(path, clock, inquiry)

    assert 2 <= len(inquiry.seen) <= 5
    assert [census.in_use_bytes for census in timeline.censuses] == inquiry.seen
    assert {census.unit_id for census in timeline.censuses} == {0}
    assert all(census.objects == 300_000 for census in timeline.censuses)
    assert [round(census.took_s, 3) for census in timeline.censuses] == [1.0] * len(inquiry.seen)
    assert [holder.steps[1].edge for holder in timeline.holders] == [".saved"]
    assert [tally.name for tally in timeline.tallies] == ["fit"]
    assert timeline.overhead.censuses == len(inquiry.seen)
    assert timeline.overhead.census_s == pytest.approx(len(inquiry.seen), rel=0.01)


class Blocks:
    """A probe of CPython's blocks, of which a census leaves some behind."""

    name = "cpython"
    used = 1_000_000

    def read(self):
        return Reading({"python_blocks": self.used})


def test_what_a_census_leaves_behind_is_not_counted_as_the_programs(path, clock):
    heap, blocks = Heap(clock, cost_s=0.0001), Blocks()

    def inquiry(in_use_bytes, risen_bytes):
        blocks.used += 10_000
        return 300_000, ()

    watching = observer(path, clock, heap, blocks, inquire=inquiry)
    unit = watching.unit_id("epoch")
    for ordinal in range(1, 41):
        clock.now_s += 1
        heap.used += MIB
        watching.boundary(unit, ordinal)
    watching.finish()
    timeline = load(path)
    marks = [gauges.in_use_bytes(sample.gauges) for sample in timeline.samples]

    assert len(timeline.censuses) >= 2
    assert {later - earlier for earlier, later in itertools.pairwise(marks)} == {MIB}
    assert timeline.samples[-1].gauges["own_blocks"] == 10_000 * len(timeline.censuses)


def test_a_flat_run_has_no_census(path, clock):
    inquiry = Inquiry(clock)
    timeline = rising_run(path, clock, inquiry, rounds=400, mib=0)

    assert inquiry.seen == []
    assert timeline.censuses == ()
    assert timeline.overhead.censuses == 0


def test_however_long_a_run_is_it_has_five_censuses_at_the_most(path, clock):
    inquiry = Inquiry(clock)
    rising_run(path, clock, inquiry, rounds=5_000)

    assert len(inquiry.seen) == 5


def test_a_census_does_not_silence_the_unit_that_needed_it(path, clock):
    timeline = rising_run(path, clock, Inquiry(clock), rounds=60)

    assert [sample.ordinal for sample in timeline.samples] == [*range(1, 61)]
    assert timeline.overhead.sampling_s < 0.1


@pytest.mark.parametrize(
    "error",
    [RuntimeError("no luck"), RecursionError("too deep"), MemoryError(), KeyError("x")],
    ids=lambda error: type(error).__name__,
)
def test_a_census_that_fails_is_a_note_and_is_not_tried_again(path, clock, error):
    inquiry = Inquiry(clock, fails=error)
    timeline = rising_run(path, clock, inquiry, rounds=200)

    assert len(inquiry.seen) == 1
    [note] = timeline.notes
    assert note.text.startswith("the heap scan failed")
    assert type(error).__name__ in note.text
    assert timeline.censuses == ()
    assert [sample.ordinal for sample in timeline.samples][-1] == 200
    assert len(timeline.samples) > 100
    assert len(timeline.collections) > 3


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_during_a_census_is_the_programs_and_watching_goes_on(path, clock, error):
    inquiry = Inquiry(clock, fails=error())
    heap = Heap(clock, cost_s=0.0001)
    watching = observer(path, clock, heap, inquire=inquiry)
    unit, interrupts = watching.unit_id("epoch"), 0
    for ordinal in range(1, 30):
        clock.now_s += 1
        heap.used += MIB
        try:
            watching.boundary(unit, ordinal)
        except error:
            interrupts += 1
            inquiry.fails = None
    watching.finish()

    assert interrupts == 1
    assert load(path).samples[-1].ordinal == 29
    assert load(path).censuses != ()


def test_what_cannot_be_written_down_is_a_note_and_is_not_tried_again(path, clock):
    """A name of half a character, as `setattr(box, "\\udcff", [])` makes them."""
    inquiry = Inquiry(clock)

    def half_a_character(in_use_bytes):
        inquiry(in_use_bytes)
        holder = a_holder(a_module(), an_array(".\udcff"), grows=".\udcff")
        return 300_000, (Held([holder]),)

    timeline = rising_run(path, clock, half_a_character, rounds=100)

    assert len(inquiry.seen) <= 5
    assert len(timeline.samples) > 90


def test_the_heartbeat_takes_no_census(path, clock):
    inquiry, heap = Inquiry(clock), Heap(clock)
    watching = observer(path, clock, heap, inquire=inquiry)
    for second in range(60):
        clock.now_s = second + 0.5
        heap.used += 8 * MIB
        watching.heartbeat()
    watching.finish()

    assert inquiry.seen == []


def test_last_words_are_recorded(path, clock):
    watching = observer(path, clock, Heap(clock))
    watching.finish([Tallied([a_tally("call", "fit", each=0)])])

    assert [tally.name for tally in load(path).tallies] == ["fit"]


def census_rounds(path, clock, inquiry, rounds, *, first_s):
    """The rounds with a census, where the program has taken so much before its loop."""
    clock.now_s = first_s
    heap = Heap(clock, cost_s=0.0001)
    watching = observer(path, clock, heap, inquire=inquiry)
    unit = watching.unit_id("epoch")
    for ordinal in range(rounds + 1):
        clock.now_s += 0.3
        heap.used += 2 * MIB
        watching.boundary(unit, ordinal)
    watching.boundary(unit, rounds, at_end=True)
    watching.escalation.finish()  # after the last statement, and again at exit
    watching.finish()
    return [census.ordinal for census in load(path).censuses]


@pytest.mark.parametrize("rounds", [6, 7, 8, 12])
def test_the_second_census_is_made_at_the_end_of_a_loop_that_cannot_afford_it_before(
    path, clock, rounds
):
    assert census_rounds(path, clock, Inquiry(clock), rounds, first_s=2.0) == [4, rounds]


def test_two_censuses_are_not_made_in_the_same_epoch_of_the_fit_around(path, clock):
    """A list of the batches of one epoch is longer at its end than at its start, and no leak."""
    clock.now_s = 5.0
    heap, inquiry = Heap(clock, cost_s=0.0001), Inquiry(clock)
    watching = observer(path, clock, heap, inquire=inquiry)
    epochs, batches = watching.unit_id("epoch"), watching.unit_id("iteration", "train.py:19")
    watching.boundary(epochs, 0)
    for batch in range(1, 49):
        clock.now_s += 0.1
        heap.used += MIB
        watching.boundary(batches, batch, at_end=batch % 4 == 0)
        if batch % 4 == 0:
            watching.boundary(epochs, batch // 4, at_end=batch == 48)
    watching.finish()

    censuses = load(path).censuses
    seen_in = [one.ordinals[epochs] for one in censuses]
    assert len(censuses) > 1
    assert seen_in == sorted({*seen_in})


def test_the_second_census_is_made_at_the_end_of_a_program_whose_loop_was_left(path, clock):
    """By an exception: there is no end of a loop then."""
    clock.now_s = 5.0
    heap, inquiry = Heap(clock, cost_s=0.0001), Inquiry(clock)
    watching = observer(path, clock, heap, inquire=inquiry)
    unit = watching.unit_id("epoch")
    for ordinal in range(9):
        clock.now_s += 0.3
        heap.used += 2 * MIB
        watching.boundary(unit, ordinal)
    watching.finish()

    timeline = load(path)
    assert [census.ordinal for census in timeline.censuses] == [4, 8]
    assert [one.ordinal for one in timeline.collections] == [4, 7]


def test_what_was_freed_when_the_program_ended_is_not_looked_at(path, clock):
    clock.now_s = 5.0
    heap, inquiry = Heap(clock, cost_s=0.0001), Inquiry(clock)
    watching = observer(path, clock, heap, inquire=inquiry)
    unit = watching.unit_id("epoch")
    for ordinal in range(9):
        clock.now_s += 0.3
        heap.used += 2 * MIB
        watching.boundary(unit, ordinal)
    heap.used = 100 * MIB
    watching.finish()

    assert [census.ordinal for census in load(path).censuses] == [4]
    assert load(path).overhead.collections == 2


def test_a_program_that_took_long_can_afford_it_in_its_round(path, clock):
    assert census_rounds(path, clock, Inquiry(clock), 12, first_s=50.0)[:2] == [4, 7]


def test_a_run_too_short_for_a_look_at_its_objects_is_told_so(path, clock, monkeypatch):
    inquiry = Inquiry(clock)
    monkeypatch.setattr(gc, "collect", lambda *_: setattr(clock, "now_s", clock.now_s + 0.45))
    assert census_rounds(path, clock, inquiry, 20, first_s=1.0) == []

    told = (
        "the run was too short for a heap scan, which takes seconds of processor time; a longer "
        "run can show what holds the memory"
    )
    assert [note.text for note in load(path).notes] == [told]


def test_a_second_look_that_is_refused_again_at_the_end_is_told_once(path, clock):
    class Dear(Inquiry):
        def __call__(self, in_use_bytes, risen_bytes):
            self.clock.now_s += 6.0
            return super().__call__(in_use_bytes, risen_bytes)

    assert len(census_rounds(path, clock, Dear(clock), 20, first_s=1.0)) == 1
    assert len(load(path).notes) == 1


@pytest.mark.parametrize("frozen", [False, True])
def test_a_census_leaves_the_programs_objects_to_the_collector_as_they_were(path, clock, frozen):
    if frozen:
        gc.freeze()
    before = gc.get_freeze_count()
    try:
        rising_run(path, clock, Inquiry(clock))
        assert gc.get_freeze_count() == before
    finally:
        gc.unfreeze()


def test_garbage_that_a_census_makes_is_gone_before_the_next_mark(path, clock):
    class Cycle:
        def __init__(self):
            self.itself = self

    made = []

    def inquiry(in_use_bytes, risen_bytes):
        made.append(weakref.ref(Cycle()))
        return 300_000, ()

    rising_run(path, clock, inquiry, rounds=6, mib=2)

    assert made
    assert all(cycle() is None for cycle in made)
