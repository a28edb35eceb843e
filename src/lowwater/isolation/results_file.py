"""The results of a map, written as they come, so that an interrupted map can go on.

The same frames as in a recording: a file that was cut off at any byte is read up to its last
whole result. Values are pickled, so such a file is to be trusted like the program that wrote it.
"""

import contextlib
import fcntl
import os
import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import IO, Any, Self

import cloudpickle
import msgspec

from lowwater.errors import UnreadableInput, UsageError
from lowwater.isolation.fingerprint import Fingerprints
from lowwater.isolation.outcome import MemoryStory, Outcome
from lowwater.isolation.trial import Trial
from lowwater.recording.frames import frame, whole_frames

_MAGIC = b"LOWWATER-RESULTS1\n"


class ResultsFile:
    """Results by what was called; without a path nothing is kept."""

    def __init__(self, path: "str | os.PathLike[str] | None", function: Callable[..., Any]) -> None:
        """Read what is there, and write behind it."""
        self._path = os.fspath(path) if path is not None else None
        self._known: dict[str, bytes] = {}
        self._keys: list[str] = []
        self._prints = Fingerprints(function)
        self._file: IO[bytes] | None = None
        if self._path is not None:
            self._file = _opened(self._path)
            try:
                self._read(self._file, self._path)
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def known(self, trials: Sequence[Trial]) -> dict[int, Outcome]:
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

    def add(self, number: int, outcome: Outcome) -> None:
        """Write a result; one that failed is tried again next time."""
        if self._file is None or outcome.error is not None:
            return
        done = {
            "key": self._keys[number],
            "value": _pickled(outcome.value),
            "memory": asdict(outcome.memory),
            "elapsed_s": outcome.elapsed_s,
            "attempts": outcome.attempts,
        }
        try:
            self._write(done)
        except OSError as error:  # a full disk must not cost those that run, and the rest
            warnings.warn(
                f"A result cannot be written to {self._path}: {error.strerror}. "
                "The map goes on; another run would make this trial again",
                stacklevel=4,
            )

    def _loaded(self, payload: bytes) -> Outcome | None:
        try:
            return _outcome(payload)
        except Exception as error:  # noqa: BLE001 - unpickling raises whatever it meets
            warnings.warn(
                f"A result in {self._path} cannot be read, its trial is made again: {error!r}",
                stacklevel=5,
            )
            return None

    def _write(self, record: dict[str, Any]) -> None:
        assert self._file is not None
        _append(self._file, frame(msgspec.msgpack.encode(record)))

    def _read(self, file: IO[bytes], path: str) -> None:
        data = file.read()
        written_by = {"function": self._prints.name, "code": self._prints.of_code()}
        if not data:
            _append(file, _MAGIC)
            self._write(written_by)
            return
        if not data.startswith(_MAGIC):
            raise UnreadableInput(f"{path} has no results of a map", advice="another file name")
        end = len(_MAGIC)
        for payload, end in whole_frames(data, path, len(_MAGIC)):  # noqa: B007 - the last one
            record = msgspec.msgpack.decode(payload)
            if "key" in record:
                self._known[record["key"]] = payload
            else:
                _compare(path, record, written_by)
        file.truncate(end)
        file.seek(end)


def _opened(path: str) -> IO[bytes]:
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"{path} is not a file that results can be kept in")
    try:
        file = open(path, "a+b", buffering=0)  # noqa: SIM115 - as long as the map
    except OSError as error:
        raise UsageError(
            f"The results cannot be written to {path}", received=error.strerror or str(error)
        ) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UsageError(
            f"Another map is writing to {path}", advice="wait for it, or another file name"
        ) from None
    file.seek(0)
    return file


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


def _compare(path: str, before: dict[str, Any], now: dict[str, Any]) -> None:
    if before["function"] != now["function"]:
        raise UsageError(
            f"{path} has the results of another function",
            received=f"{now['function']}, not {before['function']}",
            advice="another file name",
        )
    if before["code"] != now["code"]:
        warnings.warn(
            f"`{now['function']}` has changed since the results in {path} were written; "
            "they are used as they are",
            stacklevel=6,
        )


def _pickled(value: Any) -> bytes:  # noqa: ANN401
    """Classes by their names, so that they are the program's own when it runs again."""
    try:
        return pickle.dumps(value, protocol=5)
    except Exception:  # noqa: BLE001 - lambdas, and classes made in functions
        pickled: bytes = cloudpickle.dumps(value)
        return pickled


def _outcome(payload: bytes) -> Outcome:
    record = msgspec.msgpack.decode(payload)
    return Outcome(
        value=pickle.loads(record["value"]),  # noqa: S301 - see above
        memory=MemoryStory(**record["memory"]),
        elapsed_s=record["elapsed_s"],
        attempts=record["attempts"],
        started="results file",
    )
