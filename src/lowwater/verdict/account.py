"""What the marks have done, read off their straight pieces: the past, and how it is at present.

Where it rises by jumps that keep coming, or rounds take turns, the lower of each two marks is
looked at, and so on: what is left of a staircase then is its slope.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lowwater.model.policy import POLICY
from lowwater.verdict.asked import UNNOTED, Asked
from lowwater.verdict.segments import Piece, noise_of, piece_of, pieces_of, slope_error
from lowwater.verdict.series import NOTHING, Floats, Series, lowest_of_stretches
from lowwater.verdict.trend import Trend, theil_sen, trend


@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    """A sudden rise that stayed: before which round, and by how many bytes."""

    round: float
    size: float


@dataclass(frozen=True, slots=True, eq=False)
class Account:
    """The marks as they behave at present, and what came before.

    `present` begins where the marks began to behave as they do now, with a break at each jump.
    `tail` are the last marks, where they are off that line and too few to be a present of
    their own. `rate_before` is the rate before the present; `lows` are the marks to
    which memory came back before it rose again; `stretch` is how many marks each mark is the
    lowest of.
    """

    marks: Series
    present: Series
    growth: Trend
    noise: float
    tail: Series
    rate_before: float | None = None
    jumps: tuple[Jump, ...] = ()
    lows: Series = NOTHING
    stretch: int = 1

    @property
    def is_rising(self) -> bool:
        """Whether the present rises for certain."""
        return self.rises(UNNOTED)

    def rises(self, asked: Asked) -> bool:
        """Whether the present rises for certain: beyond chance, and clear of its noise."""
        is_few = len(self.present) < POLICY.enough_rounds - POLICY.warmup_marks
        by_chance = "by_chance_in_few" if is_few else "by_chance"
        text, p_rising = "Is it unlikely to be chance?", self.growth.p_rising
        return (
            self._is_beyond_noise(asked)
            and asked.at_most(text, p_rising, by_chance)
            and self._is_clear(asked)
        )

    @property
    def rises_as_far_as_seen(self) -> bool:
        """Whether the trend is a rise, even where it is not certain beyond the noise.

        Enough not to call it level, and not enough for a leak: rounds that take turns look like
        noise, and four that all rise are too few to exclude chance.
        """
        growth, least = self.growth, slope_error(self.present, float(POLICY.noise_bytes))
        if self.is_rising or growth.slope <= POLICY.standard_errors * least:
            return self.is_rising
        is_clear = growth.low >= POLICY.clear_share * growth.slope
        return self._all_rise or (is_clear and growth.p_rising <= POLICY.by_chance_in_few)

    @property
    def _all_rise(self) -> bool:
        return self.growth.low > 0 and bool((np.diff(self.present.y) > 0).all())

    def _is_beyond_noise(self, asked: Asked) -> bool:
        # A byte per round is nothing, however certain.
        error = max(slope_error(self.present, self.noise), 1.0 / POLICY.standard_errors)
        text, rate = "Is the growth beyond noise?", self.growth.slope
        return asked.more_than(text, rate, "standard_errors", of=error)

    def _is_clear(self, asked: Asked) -> bool:
        """Where no mark fails to rise, only how fast is not clear."""
        growth = self.growth
        return asked.whether("Did it rise in every round?", self._all_rise) or asked.at_least(
            "Is the lower estimate close to it?", growth.low, "clear_share", of=growth.slope
        )

    @property
    def jumps_recur(self) -> bool:
        """Whether it rises by jumps that keep coming: then how it is between them says little."""
        return not self.fell and len(self.jumps) >= POLICY.jumps_that_recur

    @property
    def fell(self) -> bool:
        """Whether memory came back before it rose again."""
        return len(self.lows) > 0

    @property
    def only_swings(self) -> bool:
        """Whether nothing rises for certain, and memory fell once as far as it had ever risen.

        And has not been higher since: all marks are within the range of those before the fall.
        """
        if len(self.lows) != 1 or self.is_rising:
            return False
        y = self.marks.y
        low = int(np.searchsorted(self.marks.x, self.lows.x[0]))
        fell_all_the_way = y[low] <= y[:low].min() + self.noise
        return bool(fell_all_the_way and y[low:].max() <= y[:low].max() + self.noise)

    @property
    def lows_are_level(self) -> bool:
        """Whether it came back to one level, again and again."""
        y = self.lows.y
        return len(y) > 1 and bool(np.ptp(y) <= POLICY.noise_share * np.ptp(self.marks.y))

    @property
    def lows_rise(self) -> bool:
        """Whether each low point is above the one before, and there are enough to say so."""
        y = self.lows.y
        return len(y) >= POLICY.settled_marks and bool((np.diff(y) > 0).all())

    @property
    def begins(self) -> float:
        """The round since which it behaves as it does now: the first mark of the present line.

        Not the round in which a rise was over: a cache that is full in round 5 may come to its
        line only in round 7, after two marks that are a little off. When it was full is for the
        reader of the verdict, and `kept.py` says it by the bytes; this is for the trend.
        """
        return float(self.present.x[0]) if len(self.present) else 0.0

    @property
    def gained(self) -> float:
        """How many bytes came before the present."""
        if not len(self.present):
            return 0.0
        return float(self.present.y[0] - self.marks.y[0])


def account_of(series: Series) -> Account:
    """The account of these marks, at the finest scale at which they do not rise and fall."""
    finest = _account(series, 1)
    if finest.fell or (finest.is_rising and not finest.jumps_recur):
        return finest
    stretch = 2
    while len(series) >= POLICY.alike * stretch * POLICY.fewest_marks:
        lows = lowest_of_stretches(series, len(series) // stretch)
        # Rounds that take turns look like noise; their low points do not.
        take_turns = noise_of(lows) * POLICY.alike**3 <= finest.noise
        if finest.jumps_recur or (take_turns and len(lows) >= POLICY.enough_rounds):
            found = _account(lows, stretch)
            if not found.jumps_recur and not found.fell:
                return found
        stretch *= 2
    return finest


def evened(series: Series) -> Series:
    """The marks of a run that was sampled ever more rarely, evenly over its rounds.

    Else the many marks of its beginning would give it their rate.
    """
    gaps = np.diff(series.x)
    if not len(gaps) or gaps.max() <= POLICY.alike * gaps.min():
        return series
    width = float(gaps.max())
    stretch = ((series.x - series.x[0]) // width).astype(np.int64)
    order = np.lexsort((series.y, stretch))
    lowest = np.sort(order[np.unique(stretch[order], return_index=True)[1]])
    # A few wide gaps are a lack of samples, and no plan to take fewer.
    if len(lowest) < min(len(series), POLICY.enough_rounds):
        return series
    return Series(series.x[lowest], series.y[lowest], series.breaks)


def opened(series: Series) -> Series:
    """The marks without single ones that stand above both neighbours: those are no low water."""
    y = series.y
    if len(y) < 3:  # noqa: PLR2004 - a neighbour on either side
        return series
    inner = np.minimum(y[1:-1], np.maximum(y[:-2], y[2:]))
    return Series(series.x, np.concatenate((y[:1], inner, y[-1:])), series.breaks)


def _account(marks: Series, stretch: int) -> Account:
    noise = noise_of(marks)
    # Single spikes make no pieces. The trend is taken from the marks themselves: it is robust,
    # and what was cut down would look more regular than it is.
    pieces = pieces_of(opened(marks), noise)
    rest, first = _since_when(marks, pieces)
    jumps = tuple(_jumps(marks, pieces, noise))
    # Where jumps keep coming, the low points of longer stretches tell more.
    if first > 0 and len(jumps) < POLICY.jumps_that_recur:
        pieces = _without_jitter(marks, pieces, noise)
        rest, first = _since_when(marks, pieces)
        jumps = tuple(_jumps(marks, pieces, noise))
    start, stop = rest[first].start if rest else 0, rest[-1].stop if rest else 0
    present = _without_jumps(
        Series(marks.x[start:stop], marks.y[start:stop]),
        _events(_discontinuities(marks, rest[first:], noise)),
    )
    return Account(
        marks,
        present,
        trend(evened(present)),
        noise,
        Series(marks.x[stop:], marks.y[stop:]),
        _rate_before(marks, rest, first),
        jumps,
        _lows(marks, pieces, noise),
        stretch,
    )


def _since_when(marks: Series, pieces: list[Piece]) -> tuple[list[Piece], int]:
    """The pieces without a tail, and the first of them that behaves as it does now."""
    rest = pieces[:-1] if _is_tail(marks, pieces) else pieces
    first = _first_alike(rest)
    return rest, 0 if _is_one_line(marks, rest, first) else first


def _without_jitter(marks: Series, pieces: list[Piece], noise: float) -> list[Piece]:
    """The same pieces, or one for all that is where the longest line of them leads.

    Threads that work for the program may be a round ahead of it, or behind, for some rounds. A
    few such marks in a row look like a change, but are at most a round further off than others
    have been.
    """
    first, last = _longest_line(pieces)
    start, stop = (pieces[first].start, pieces[last].stop) if pieces else (0, 0)
    if stop - start < POLICY.enough_rounds - POLICY.warmup_marks:
        return pieces
    rate, off = off_line(marks, start, stop)
    strayed = float(np.abs(off[start:stop]).max())
    reach = strayed + POLICY.standard_errors * noise + rate
    # A line that hardly rises, beside how far its marks stray, leads anywhere.
    if rate * (stop - start) <= POLICY.alike * reach or np.abs(off[stop:]).max(initial=0.0) > reach:
        return pieces
    return [*pieces[:first], piece_of(marks, start, len(marks), noise)]


def _longest_line(pieces: list[Piece]) -> tuple[int, int]:
    """The first and the last of those pieces, one after the other, that rise alike."""
    lines, first = [(0, 0)], 0
    for last in range(len(pieces)):
        while not _are_alike(pieces[first], pieces[first + 1 : last + 1] or [pieces[first]]):
            first += 1
        lines.append((first, last))
    return max(lines, key=lambda line: sum(map(len, pieces[line[0] : line[1] + 1])))


def off_line(marks: Series, start: int, stop: int) -> tuple[float, Floats]:
    """The rate of these marks, and how far each of all marks is off the line through them."""
    rate = theil_sen(Series(marks.x[start:stop], marks.y[start:stop]))[0]
    level = marks.y - rate * marks.x
    return rate, np.asarray(level - np.median(level[start:stop]))


def _without_jumps(series: Series, jumps: list[Jump]) -> Series:
    """The marks with every jump taken out, and a break in its place."""
    lifted = sum((jump.size * (series.x >= jump.round) for jump in jumps), np.zeros(len(series)))
    return Series(series.x, series.y - lifted, tuple(jump.round for jump in jumps))


def _is_tail(marks: Series, pieces: list[Piece]) -> bool:
    """Whether the last piece is too short to be a present of its own: in marks, and in rounds."""
    if len(pieces) < 2 or len(pieces[-1]) >= POLICY.settled_marks:  # noqa: PLR2004 - before it
        return False
    rounds = float(marks.x[-1] - marks.x[pieces[-1].start - 1])
    return rounds < POLICY.late_share * marks.span


def _first_alike(pieces: list[Piece]) -> int:
    """The first of the last pieces that rise alike."""
    first = len(pieces) - 1
    while first > 0 and _are_alike(pieces[first - 1], pieces[first:]):
        first -= 1
    return max(first, 0)


def _is_one_line(marks: Series, pieces: list[Piece], first: int) -> bool:
    """Whether it rose as fast before the last pieces, all in all, or half as fast and less.

    A detour is no change, and what gains speed has risen all along.
    """
    before, now = _rate_before(marks, pieces, first), pieces[-1].slope if pieces else 0.0
    if before is None or before <= 0:
        return False
    return before / POLICY.alike <= now <= POLICY.alike**2 * before


def _are_alike(piece: Piece, later: list[Piece]) -> bool:
    """Whether the rates are the same, as far as can be told, or within a factor."""
    weights = np.array([1 / one.slope_error**2 for one in later])
    if not weights.any():  # single marks have no rate that could differ
        return True
    slope = float((weights * [one.slope for one in later]).sum() / weights.sum())
    error = float(np.hypot(piece.slope_error, weights.sum() ** -0.5))
    if abs(piece.slope - slope) <= POLICY.standard_errors * error:
        return True
    low, high = sorted((piece.slope, slope))
    return low > 0 and high <= POLICY.alike * low


def _rate_before(marks: Series, pieces: list[Piece], first: int) -> float | None:
    """How fast it rose before the present, with the step into it."""
    if first == 0 or not pieces:
        return None
    span = float(marks.x[pieces[first].start] - marks.x[0])
    return (pieces[first].first - pieces[0].first) / span


def _discontinuities(marks: Series, pieces: list[Piece], noise: float) -> list[Jump]:
    """Where one piece does not go on from the level of the one before."""
    found = []
    for early, late in pairwise(pieces):
        at = float(marks.x[late.start])
        gap = at - float(marks.x[early.stop - 1])
        usual = gap * (late.slope if len(late) > len(early) else early.slope)
        size = late.first - early.last - usual
        if abs(size) > POLICY.standard_errors * noise:
            found.append(Jump(at, size))
    return found


def _events(found: list[Jump]) -> list[Jump]:
    """Those that are no part of how it rises: not falls that recur, nor what rises as far.

    Without its falls, a sawtooth would be a line.
    """
    falls = [-jump.size for jump in found if jump.size < 0]
    if len(falls) < POLICY.jumps_that_recur:
        return found
    return [jump for jump in found if jump.size > POLICY.alike * max(falls)]


def _jumps(marks: Series, pieces: list[Piece], noise: float) -> list[Jump]:
    return [jump for jump in _discontinuities(marks, pieces, noise) if jump.size > 0]


def _lows(marks: Series, pieces: list[Piece], noise: float) -> Series:
    """The first mark after each fall that took back a good part of all that ever rose.

    None, where it did not rise again: memory that comes back once and stays there is no sawtooth.
    """
    levels = np.array([level for one in pieces for level in (one.first, one.last)])
    least = POLICY.noise_share * float(np.ptp(levels)) if len(levels) else 0.0
    least = max(least, POLICY.standard_errors * noise, POLICY.resolution_bytes)
    lows = [late.start for early, late in pairwise(pieces) if early.last - late.first > least]
    again = levels[-1] - levels[2 * _piece_of(pieces, lows[-1])] if lows else 0.0
    return marks.at(lows) if again > least or len(lows) > 1 else NOTHING


def _piece_of(pieces: list[Piece], start: int) -> int:
    return next(index for index, one in enumerate(pieces) if one.start == start)
