"""The results of a map, written as they come, so that an interrupted map can go on.

What is whole in a damaged file is used; what is lost is told, and computed again. Nothing but a
result that was not finished is ever cut off. Values are pickled, so such a file is to be trusted
like the program that wrote it.
"""

import contextlib
import fcntl
import os
import pickle
import stat
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import IO, Any, Self

import cloudpickle
import msgspec

from lowwater.errors import UsageError
from lowwater.isolation.fingerprint import Fingerprints
from lowwater.isolation.outcome import DriverStory, MemoryStory, TrialOutcome
from lowwater.isolation.results_contents import MAGIC, Contents, Record, contents_of, decoded
from lowwater.isolation.results_frames import MARK, Payload, frame
from lowwater.isolation.trial import Trial


class ResultsFile:
    """Results by what was called; without a path nothing is kept."""

    def __init__(self, path: "str | os.PathLike[str] | None", function: Callable[..., Any]) -> None:
        """Read what is there, and write behind it."""
        self._path = os.fspath(path) if path is not None else None
        self._known: dict[str, Payload] = {}
        self._keys: list[str] = []
        self._prints = Fingerprints(function)
        self._file: IO[bytes] | None = None
        self._next_number = 0
        if self._path is not None:
            self._file = _opened(self._path)
            try:
                self._go_on(self._file, self._path)
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def known(self, trials: Sequence[Trial]) -> dict[int, TrialOutcome]:
        """Those of the trials that were done in an earlier run, by their place."""
        if self._file is None:
            return {}
        seen: Counter[str] = Counter()
        for trial in trials:
            digest = self._prints.of_call(trial.args, trial.kwargs)
            # The same configuration twice is two trials.
            self._keys.append(f"{digest}-{seen[digest]}")
            seen[digest] += 1
        found = ((number, self._known.get(key)) for number, key in enumerate(self._keys))
        loaded = ((number, self._loaded(payload)) for number, payload in found if payload)
        return {number: outcome for number, outcome in loaded if outcome is not None}

    def add(self, number: int, outcome: TrialOutcome) -> None:
        """Write a result; one that failed is tried again next time."""
        if self._file is None or outcome.error is not None:
            return
        value, is_compressed = _without_mark(_pickled(outcome.value))
        done = Record(
            key=self._keys[number],
            function=self._prints.name,
            value=value,
            is_compressed=is_compressed,
            memory=asdict(outcome.memory),
            elapsed_s=outcome.elapsed_s,
            attempts=outcome.attempts,
            config=_compressed(outcome.config) if outcome.reductions else b"",
            reductions=outcome.reductions,
        )
        try:
            self._write(done)
        # A full disk, or a value of 4 GiB, must not cost those that run, and the rest.
        except (OSError, ValueError, OverflowError) as error:
            warnings.warn(
                f"Cannot write a result to {self._path}: "
                f"{getattr(error, 'strerror', None) or error}. The map continues; another run "
                "will repeat this trial",
                stacklevel=4,
            )

    def _loaded(self, payload: Payload) -> TrialOutcome | None:
        assert self._file is not None
        try:
            return _outcome(decoded(payload.read(self._file.fileno())))
        except Exception as error:  # noqa: BLE001 - unpickling raises whatever it meets
            warnings.warn(
                f"Cannot read a result in {self._path}; its trial runs again: {error!r}",
                stacklevel=5,
            )
            return None

    def _write(self, record: Record) -> None:
        assert self._file is not None
        _append(self._file, frame(self._next_number, msgspec.msgpack.encode(record)))
        self._next_number += 1

    def _go_on(self, file: IO[bytes], path: str) -> None:
        """Use what is there; it is changed only when it is known to be ours."""
        contents = contents_of(file.fileno(), path)
        self._compare(contents, path)
        self._known, self._next_number = contents.results, contents.next_number
        if contents.torn_at is not None:
            file.truncate(contents.torn_at)
        if not contents.has_magic:
            _append(file, MAGIC)
        if not contents.has_origin or not contents.numbers:
            self._write(Record(function=self._prints.name, code=self._prints.of_code()))
        if contents.ends_damaged or contents.lost > contents.told_lost:
            _warn_of_lost(contents, path)
            self._write(Record(told_lost=contents.lost))

    def _compare(self, contents: Contents, path: str) -> None:
        name = self._prints.name
        for other in contents.functions:
            if other != name:
                raise UsageError(
                    f"{path} has the results of another function",
                    received=f"{name}, not {other}",
                    advice="use another file name",
                )
        if contents.has_origin and contents.functions[name] != self._prints.of_code():
            warnings.warn(
                f"`{name}` has changed since the results in {path} were written; they are used "
                "anyway",
                stacklevel=6,
            )


def _warn_of_lost(contents: Contents, path: str) -> None:
    """How many were at the end, behind the last whole one, nobody knows."""
    lost = contents.lost - contents.told_lost + contents.ends_damaged
    count = f"At least {lost}" if contents.ends_damaged else f"{lost}"
    told = "result in {} was damaged and is" if lost == 1 else "results in {} were damaged and are"
    warnings.warn(f"{count} {told.format(path)} computed again", stacklevel=6)


def _opened(path: str) -> IO[bytes]:
    """Locked, and readable for nobody else if it is new."""
    try:
        # Not blocking: on a pipe it would wait for somebody to read.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
        file = open(os.open(path, flags, 0o600), "r+b", buffering=0)  # noqa: SIM115 - as long as the map
    except OSError as error:
        if os.path.exists(path) and not os.path.isfile(path):
            raise _no_file(path) from None
        raise UsageError(
            f"Cannot write the results to {path}", received=error.strerror or str(error)
        ) from None
    try:
        _claim(file, path)
    except BaseException:
        file.close()
        raise
    return file


def _claim(file: IO[bytes], path: str) -> None:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise _no_file(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError(
            f"Another map is writing to {path}", advice="wait for it, or use another file name"
        ) from None


def _no_file(path: str) -> UsageError:
    return UsageError(f"{path} is not a file that can hold results")


def _append(file: IO[bytes], data: bytes) -> None:
    """All of it, or nothing: what comes behind half a result could not be read."""
    end, rest = os.fstat(file.fileno()).st_size, memoryview(data)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError:
        with contextlib.suppress(OSError):
            file.truncate(end)
        raise


def _pickled(value: Any) -> bytes:  # noqa: ANN401
    """Classes by their names, so that they are the program's own when it runs again."""
    try:
        return pickle.dumps(value, protocol=5)
    except Exception:  # noqa: BLE001 - lambdas, and classes made in functions
        pickled: bytes = cloudpickle.dumps(value)
        return pickled


def _without_mark(value: bytes) -> tuple[bytes, bool]:
    """Compressed where it has to be, as for a result that holds a results file."""
    return (zlib.compress(value, 1), True) if MARK in value else (value, False)


def _compressed(value: Any) -> bytes:  # noqa: ANN401
    """Small, so that it may always be compressed."""
    return zlib.compress(_pickled(value), 1)


def _outcome(record: Record | None) -> TrialOutcome:
    if record is None:
        raise ValueError("the record is damaged")
    value = zlib.decompress(record.value) if record.is_compressed else record.value
    return TrialOutcome(
        value=pickle.loads(value),  # noqa: S301 - see above
        memory=_memory(record.memory),
        elapsed_s=record.elapsed_s,
        attempts=record.attempts,
        started="results file",
        config=pickle.loads(zlib.decompress(record.config)) if record.config else None,  # noqa: S301
        reductions=record.reductions,
    )


def _memory(told: dict[str, Any]) -> MemoryStory:
    driver = {name: DriverStory(**story) for name, story in told.get("driver", {}).items()}
    return MemoryStory(**{**told, "driver": driver})
