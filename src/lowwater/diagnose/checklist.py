"""Runs a program several times, one thing changed each time, and says what that shows."""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from lowwater.diagnose.cuts import Cuts
from lowwater.diagnose.factors import FACTORS, Factor, find_factor
from lowwater.diagnose.facts import Facts
from lowwater.diagnose.lab import Ground, Lab, Listener
from lowwater.diagnose.order import in_order, is_suspected, partners
from lowwater.diagnose.rerun import Ran
from lowwater.errors import UserError
from lowwater.model import Diagnosis, Finding, Kind
from lowwater.model.experiment import (
    NOT_NEEDED,
    Conclusion,
    Experiment,
    Experiments,
    Fact,
    Measured,
)
from lowwater.model.policy import POLICY
from lowwater.recording.records import Experimented
from lowwater.recording.writer import append_after_end

AS_IT_IS = "as it is"
_NO_TIME = "no time left (--budget)"
# A growth per round that would be called a leak, had the program made all of its rounds.
_SLOW_BYTES = 32 << 10
_LONGER = "all at full length, because the shortened program does not leak"
_CUT = frozenset({Fact.LOOP_LEFT, Fact.EPOCHS_CUT})


@dataclass(frozen=True, slots=True)
class Checked:
    """The first run with all experiments beside it, and where that run was recorded.

    `last_lines` is what it has written at its end, if it failed before anything could be told.
    """

    diagnosis: Diagnosis
    recording: str
    last_lines: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether the program cannot be diagnosed because it fails."""
        experiments = self.diagnosis.experiments
        return experiments is not None and experiments.base.fails

    @property
    def exit_code(self) -> int:
        """That of the program, or 128 + the signal that ended it, as shells have it."""
        ending = self.diagnosis.ending
        if ending is None:
            return 0
        return ending.exit_code or 128 + (ending.signal or 0)

    def keep(self, path: str) -> None:
        """Write it as a recording: that of the first run, and the experiments behind it."""
        try:
            with open(self.recording, "rb") as ours, open(path, "wb", opener=_private) as kept:
                shutil.copyfileobj(ours, kept)
        except OSError as error:
            msg = f"cannot write {path}"
            raise UserError(msg, received=error.strerror or str(error)) from error
        experiments = self.diagnosis.experiments or Experiments()
        problem = append_after_end(path, [Experimented(msgspec.to_builtins(experiments))])
        if problem is not None:
            raise UserError(problem, received=path)


class Checklist:
    """The experiments on one program, in their order."""

    def __init__(self, lab: Lab, listener: Listener, *, runs_all: bool = False) -> None:
        """Nothing is run yet; with `runs_all` also what is not needed for the conclusion."""
        self._lab = lab
        self._listener = listener
        self._runs_all = runs_all
        self._began_s = time.monotonic()
        self._done: list[Experiment] = []
        # The change that has helped most, for further ones on top of it.
        self._best: Experiment | None = None
        self._notes: list[str] = []
        # The changes that were asked before their turn.
        self._settled: set[str] = set()

    def run(self) -> Checked:
        """The program as it is, then each change that applies, until the cause is certain."""
        from lowwater.diagnose.says import says_of_base

        ran, base = self._first_run()
        diagnosis = ran.diagnosis
        self._add(Experiment(AS_IT_IS, says_of_base(base), measured=base))
        if base.grows:
            facts = Facts.of(diagnosis.environment, diagnosis.findings, diagnosis.facts)
            self._lab.facts = replace(facts, unit=(base.unit, base.where))
            for one in self._experiments(Ground(base), diagnosis.findings):
                self._add(one)
        lines = ran.last_lines if base.problem else ()
        return Checked(self._with_experiments(diagnosis, base), ran.recording, lines)

    def _first_run(self) -> tuple[Ran, Measured]:
        """Once more, if it was cut too short; and if it does not leak, with whole rounds."""
        first = self._lab.cuts
        ran, base = self._lab.as_it_is(AS_IT_IS)
        cuts = _better_cuts(first, ran, base)
        if cuts is not None:
            self._lab.cuts = cuts
            ran, base = self._lab.as_it_is(AS_IT_IS)
        if base.grows or ran.has_failed or not _was_cut(ran) or self._lab.left_s < base.elapsed_s:
            return ran, base
        return self._with_whole_rounds(ran, base, first.whole_rounds())

    def _with_whole_rounds(self, ran: Ran, base: Measured, whole: Cuts) -> tuple[Ran, Measured]:
        """To cut it may have changed what it does: only the program itself is acquitted."""
        before, self._lab.cuts = self._lab.cuts, whole
        longer, measured = self._lab.as_it_is_longer(AS_IT_IS, base)
        if measured.grows:
            self._notes.append(_LONGER)
        # A run that had to be ended early may have seen less than the one before.
        if measured.grows or not (longer.has_failed or measured.problem):
            return longer, measured
        self._lab.cuts = before
        return ran, base

    def _with_experiments(self, diagnosis: Diagnosis, base: Measured) -> Diagnosis:
        from lowwater.diagnose.conclude import conclude

        rows, earlier = tuple(self._done), self._lab.earlier
        conclusion = conclude(rows[1:], diagnosis.findings) if base.grows else Conclusion()
        if earlier:
            self._notes.append(
                f"{earlier} of them from an earlier diagnosis (--fresh repeats them)"
            )
        took_s = time.monotonic() - self._began_s
        is_cut = bool(_CUT & diagnosis.facts.keys())
        experiments = Experiments(rows, took_s, tuple(self._notes), is_cut)
        return replace(diagnosis, experiments=experiments, conclusion=conclusion)

    def _add(self, one: Experiment) -> None:
        self._done.append(one)
        self._listener.done(one)

    def _experiments(self, ground: Ground, findings: Sequence[Finding]) -> Iterator[Experiment]:
        facts = self._lab.facts
        factors = in_order(FACTORS, ground.measured, findings, facts)
        self._listener.expects(self._done[0], sum(one.why_not(facts) is None for one in factors))
        waiting = [*factors]
        while waiting:
            factor = waiting.pop(0)
            if factor.key in self._settled:
                continue
            if factor.changes_amount and self._knows_holders and not _are_all_alike(waiting):
                # Who holds it is known by now: what makes less of it has little to add.
                waiting.append(factor)
                continue
            why_not = factor.why_not(facts) or self._why_no_time(ground)
            on = self._ground_for(factor, ground) if why_not is None else None
            if on is None:
                yield Experiment(factor.name, why_not or NOT_NEEDED, factor.key, codes=factor.codes)
            else:
                yield from self._tried(factor, on)
        yield from self._together(factors, ground)

    @property
    def _knows_holders(self) -> bool:
        """Whether something that a finding names was made to let go, and that helped."""
        from lowwater.diagnose.conclude import helps

        return any(one.tests and helps(one) for one in self._done)

    def _together(self, factors: Sequence[Factor], base: Ground) -> Iterator[Experiment]:
        """Two changes at once that took little away, if the growth is not explained yet."""
        from lowwater.diagnose.conclude import is_explained, needs_a_partner

        tried = {one.key for one in self._done if needs_a_partner(one) and not one.together}
        made = [{*one.together} for one in self._done if one.together]
        pair = partners([one for one in factors if one.key in tried], self._lab.facts)
        if not pair or {one.key for one in pair} in made or is_explained(self._done):
            return
        first, second = pair
        if self._why_no_time(base) is None:
            yield from self._lab.tries(second, "", self._lab.ground_beside(first, base))

    def _ground_for(self, factor: Factor, ground: Ground) -> Ground | None:
        """None where nothing is left to be explained.

        A small leak that is left is looked for where the large one is gone.
        """
        from lowwater.diagnose.conclude import is_explained, still_leaks

        if self._runs_all or not is_explained(self._done):
            return ground
        is_meant = is_suspected(factor, self._lab.facts)
        if self._best is None or not still_leaks(self._done) or not is_meant:
            return None
        return self._lab.ground_with(self._best)

    def _tried(self, factor: Factor, ground: Ground) -> Iterator[Experiment]:
        """The whole; where that helps, its parts, unless there is only one."""
        from lowwater.diagnose.conclude import helps, share_of

        for tried in self._lab.tries(factor, "", ground):
            yield tried
        for pair in self._with_partner(factor, tried, ground):
            yield pair
            if pair.together and share_of(pair) > share_of(tried):
                tried, ground = pair, self._lab.ground_beside(find_factor(factor.partner), ground)
        if not helps(tried):
            return
        if self._best is None or share_of(tried) > share_of(self._best):
            self._best = tried
        yield from self._parts(tried, ground)

    def _parts(self, whole: Experiment, ground: Ground) -> Iterator[Experiment]:
        """One by one, until nearly all that the whole takes away is known."""
        from lowwater.diagnose.conclude import helps, share_of

        factor = self._lab.made_by(whole)
        parts = factor.parts(self._lab.facts)
        known = 0.0
        for detail in parts if len(parts) > 1 else ():
            if known < share_of(whole) - POLICY.told_part and self._why_no_time(ground) is None:
                for part in self._lab.tries(factor, detail, ground):
                    yield part
                known += share_of(part) if helps(part) else 0.0

    def _with_partner(
        self, factor: Factor, tried: Experiment, ground: Ground
    ) -> Iterator[Experiment]:
        """Together with what may hold the same; where that tells more, also that one alone."""
        from lowwater.diagnose.conclude import ENOUGH, has_failed, share_of

        if not factor.partner or ground.changes or has_failed(tried):
            return
        partner = find_factor(factor.partner)
        is_needless = share_of(tried) >= ENOUGH or self._why_no_time(ground) is not None
        if is_needless or partner.why_not(self._lab.facts) is not None:
            return
        for pair in self._lab.tries(factor, "", self._lab.ground_beside(partner, ground)):
            yield pair
        if share_of(pair) - share_of(tried) < POLICY.told_part:
            # Then it makes no difference alone either.
            self._settled.add(partner.key)
        elif all(one.key != partner.key for one in self._done):
            self._settled.add(partner.key)
            yield from self._lab.tries(partner, "", ground)

    def _why_no_time(self, ground: Ground) -> str | None:
        return _NO_TIME if self._lab.left_s < ground.measured.elapsed_s else None


def _are_all_alike(factors: Sequence[Factor]) -> bool:
    return all(one.changes_amount for one in factors)


def _private(path: str, flags: int) -> int:
    """As `lowwater run --record` has it; a file that exists keeps its mode."""
    return os.open(path, flags, 0o600)


def _was_cut(ran: Ran) -> bool:
    return bool(_CUT & ran.diagnosis.facts.keys())


def _better_cuts(cuts: Cuts, ran: Ran, base: Measured) -> Cuts | None:
    """For the case that too much of the program was cut away."""
    known = ran.diagnosis.facts
    if ran.has_failed and not base.grows and Fact.LOOP_LEFT in known:
        # Perhaps it needs all that its loops do: then they have to run to their end.
        return replace(cuts, leaves_loops=False)
    if not _was_cut(ran):
        return None
    if base.kind is Kind.INCONCLUSIVE:
        return cuts.longer(ran.diagnosis.verdict.more_units_needed or 0)
    is_slow = base.interval_bytes is not None and base.interval_bytes[0] >= _SLOW_BYTES
    return cuts.much_longer() if is_slow and not base.grows else None
