"""Every threshold of verdict, suspicion, attribution and experiments: unit, reason, measurement.

`benchmarks/policy.py` halves and doubles each of them and prints what changes, on the recorded
specimens and on generated runs. A number that changes nothing there has no place here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """What counts as warm-up, noise, certain, material, enough; one definition each."""

    # ── Warm-up ──────────────────────────────────────────────────────────────────────────────
    # Marks. The first round builds graphs and fills caches. What warms up for longer is a piece
    # of its own in the account of the marks, and needs no number here.
    warmup_marks: int = 1

    # ── Noise ────────────────────────────────────────────────────────────────────────────────
    # Bytes. malloc's caches and CPython's blocks move by this much in a program that does nothing.
    noise_bytes: int = 16 << 10
    # Share of the usual step from mark to mark. In the recordings of leaks, where every round
    # keeps the same array, steps differ by up to a fifth: a new page, a larger table. And share of
    # all that ever rose: a fall that takes back more is a tooth of a sawtooth.
    noise_share: float = 0.2

    # Share of what CPython's small objects grow by. They are counted, and weighed by an average of
    # 96 bytes; those of traced graphs weighed 74 in four public programs that keep models. It
    # widens intervals, and changes no kind.
    block_error: float = 0.25

    # ── The account: straight pieces ─────────────────────────────────────────────────────────
    # Units of log-likelihood on top of Schwarz's 3·log(n) for one more piece. At 10, a line under
    # Gaussian noise is cut in two in less than 1 of 100 runs of 12 to 60 rounds.
    piece_charge: float = 10.0
    # Marks. Fewer at the end are a tail: too new to say how the program behaves at present.
    marks_of_a_piece: int = 3
    # Standard errors. Rates, levels and slopes that differ by less are the same.
    standard_errors: float = 3.0
    # Factor. Rates within it are alike; below half of what it was, a rise has slowed down.
    alike: float = 2.0
    # Jumps. Three may be the rule by which it rises; two are two single events.
    jumps_that_recur: int = 3

    # ── Clocks on the axis of rounds ─────────────────────────────────────────────────────────
    # Stretches of samples by the clock, which strikes at any point of a round, so that only the
    # lowest of each may have met a low point. Fewer samples than stretches tell nothing.
    clock_stretches: int = 16

    # ── Certain ──────────────────────────────────────────────────────────────────────────────
    # Probability that marks without a trend rise like this (Mann–Kendall), or that a need which
    # only varies sets so many records …
    by_chance: float = 0.001
    # … and in a short run: five marks that all rise do so by chance in 1 of 120 runs.
    by_chance_in_few: float = 0.01
    # Lower end of the 95 % interval as a share of the estimate: a growth clear of its noise. A leak
    # with a wider interval is vague, and another unit can overrule it.
    clear_share: float = 0.4
    # Probability. A rise as likely as this is not certain, but cannot be denied either.
    likely: float = 0.03
    # The same with few marks: four that all rise do so by chance in 1 of 24 runs.
    likely_in_few: float = 0.05

    # ── Material ─────────────────────────────────────────────────────────────────────────────
    # Bytes in all. Less is not told from garbage that no collection has reached yet: the largest
    # innocent rise in the recordings that was never collected was 0.7 MB.
    resolution_bytes: int = 1 << 20
    # Bytes in all, of a slow rise. Less is a trickle, such as a log that is kept on purpose: 1.1 MB
    # in 60 rounds of a public program that is no leak.
    slow_total_bytes: int = 2 << 20
    # Bytes per round. Less is a few numbers that are kept: 2 GiB in a million rounds.
    least_rate_bytes: int = 2 << 10
    # Bytes in all. So much is material at any rate, of bytes in use as of any other gauge, and so
    # is a jump a user would notice …
    noticeable_bytes: int = 16 << 20
    # … if it is this share of all that is in use.
    noticeable_share: float = 0.05
    # Bytes in all. Of a full cache, of jumps that keep coming, and of garbage in a run that is flat
    # anyway, less is not worth a word.
    told_rise_bytes: int = 4 << 20
    # Bytes, and share of what is resident: so much that is free and kept is what users ask about.
    # In the recordings that are called reserved it is 227 to 242 MiB, half of what is resident.
    reserved_bytes: int = 64 << 20
    reserved_share: float = 0.15
    # Share of the free memory that malloc keeps. With less of it from steady growth, most came at
    # once, and is kept for reuse.
    steady_share: float = 0.5
    # Bytes per round. Below it a leak is called slow, and must have withstood a collection. Of 67
    # public programs, every leak that was reported grew by 0.21 MB or more per round.
    slow_rate_bytes: int = 128 << 10
    # Bytes per round. So much is told from noise in a few rounds.
    large_rate_bytes: int = 1_000_000

    # ── Garbage ──────────────────────────────────────────────────────────────────────────────
    # Shares of the rise that a collection gives back: little leaves the bytes live, most of it
    # makes them garbage, and in between more collections must tell.
    freed_little: float = 0.15
    freed_most: float = 0.7
    # Share of all growth. Live growth below it may be what garbage leaves behind by chance: what
    # three collections leave lies on a rising line in 7 % of simulated innocent runs, and with so
    # much in 0.01 %, where it varies by a tenth of the garbage. At 0.8 recorded leaks are lost.
    live_share: float = 0.2

    # ── Units ────────────────────────────────────────────────────────────────────────────────
    # Share of one unit's time in which another was there as well: then it can speak for it. The
    # recordings give the same answers from 0.05 to 1: there, units end together or far apart.
    covers: float = 0.8
    # Factor between the numbers of rounds. Below it two units only count differently.
    coarser: float = 1.5

    # ── Enough ───────────────────────────────────────────────────────────────────────────────
    # Marks, the least that can be tested at all.
    fewest_marks: int = 5
    # Rounds, the least for a leak: warm-up and five marks.
    fewest_rounds: int = 6
    # Rounds that show any leak; fewer do if a collection was tried and each round adds alike.
    enough_rounds: int = 12
    # Marks at one level after a rise, to say that it is over.
    settled_marks: int = 4
    # Share of a rise. A step with less has no part in it, and with all but this share it is over.
    slight_share: float = 0.05
    # Share of a rise. With more of it in one step it is a jump, and not a cache that fills.
    most_in_one_step: float = 0.6
    # Share of the rounds. A rise that began later is perhaps a last phase of the program.
    late_share: float = 1 / 3

    # ── Suspicion: when a program that runs is put to the test ───────────────────────────────
    # Bytes. Below this a rise is the noise of malloc's caches and of Python's own bookkeeping:
    # the marks of flat runs differ by up to 0.4 MB.
    least_rise_bytes: int = 512 << 10
    # Rises in a row: four happen by chance in one of 120 orders of five marks.
    rises_in_a_row: int = 4
    # Bytes. With so much, one rise fewer is enough: a run of six epochs has to be told as well.
    large_rise_bytes: int = 4 << 20
    # Bytes. So much must have come since the first census to make the second before the end of a
    # run: two are often all that a short one can afford, and this one needs something to show.
    second_look_bytes: int = 4 << 20
    # Marks. Where garbage is collected every third round, no four marks rise in a row, but the lows
    # of three do; and where a round adds little, the lows of nine, of 27, or of hundreds.
    marks_per_low: int = 3
    # Times as many rounds of the rise until the next collection, and as much growth until the next
    # census: rounds 4, 7, 13, 25 … of a run that rises from its start.
    spread: float = 2.0
    # Share of the rise. With so much above all levels that were tried, the end of a loop is
    # collected before its round: epoch 12 after 4 and 7, but not each end of an inner loop.
    untested: float = 0.3
    # Censuses in a run: each takes as long as all before it have shown, and tells half as much.
    most_censuses: int = 5
    # Share of the growth. With so much of it in data of the program, its libraries are not looked
    # at: they hold nine in ten of all objects, so that takes ten times as long. The first census
    # compares all data with the rise, the next ones measure what grew: 0.94 and more where data was
    # all that leaked (0.89 over four rounds of 1 MiB, of which the first ones still warm up).
    data_share: float = 0.9
    # The brake, in seconds of processor time: all collections and censuses together take a start
    # credit and a share of the program's own. After a Keras `fit` a census takes about 1.0 s and a
    # collection 0.15 to 0.2 s, of 8 to 11 s for the shortest program.
    credit_s: float = 1.2
    share: float = 0.125
    # Collections, and share of the program's own time: the start credit is as much as the lesser of
    # the two, where that is more. With six programs at a time on two cores all takes twice the
    # processor time, and a Keras program was left without a look for want of a tenth of a second.
    credit_collections: float = 8.0
    credit_share: float = 0.25
    # Share of the program's own processor time: so much may censuses take, if it is the last chance
    # for a second one, for with one alone no cause can be named. In public programs
    # with JAX, torch and pandas in the process, on a busy machine, two took 0.38 to 0.64 of it.
    overdraft: float = 0.75
    # Seconds of processor time that they may take in any case: a script without a framework may
    # take less itself than a look at all that it has made. With three million objects two looks
    # take 3.2 s on a quiet machine.
    overdraft_s: float = 6.0

    # ── Attribution: which finding explains how much ─────────────────────────────────────────
    # Share of the growth. A holder with less is not worth a finding, and a rest with less is none.
    least_share: float = 0.05
    # Factor. Of two that hold the same, the user's own is told before the library.
    library_weight: float = 0.75

    # ── Experiments of `lowwater diagnose`: shares of the growth of the unchanged program ────────
    # A change that leaves less has stopped the growth; shares that were measured apart may add up
    # to so much more than all.
    experiment_rest: float = 0.15
    # The same where what is left waits for the collector: the last models are more than that.
    experiment_garbage: float = 0.3
    # The least width of an interval: two runs of the same program differ by so much anyway.
    experiment_slack: float = 0.05
    # Nothing is gone only if the lower end of the interval is at least this.
    all_there: float = 0.5
    # A smaller part, gone or left, is not worth a sentence, and within what shares are known to.
    told_part: float = 0.1
    # A change that takes away less may need a partner: something else may hold the same.
    needs_partner: float = 0.5
    # A finding with so much speaks of the same as a change that stops the growth.
    finding_is_all: float = 0.8


POLICY = Policy()
