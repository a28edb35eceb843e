"""Log records of the child reach the handlers of the caller."""

import logging
import pickle
from collections.abc import Iterable, Mapping
from logging.handlers import QueueHandler
from typing import Any

from lowwater.isolation.local.channel import Channel

KIND = "log"
_SENT = "lowwater_sent"
_PLAIN = (str, int, float, type(None))


class _ToCaller(QueueHandler):
    """Sends each record, made plain as for a queue between processes."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(queue=None)  # type: ignore[arg-type]
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        # One that passes several loggers on its way up: all of the caller's handlers had it.
        if not hasattr(record, _SENT):
            setattr(record, _SENT, True)
            super().emit(record)

    def enqueue(self, record: logging.LogRecord) -> None:
        plain = {name: value for name, value in record.__dict__.items() if name != _SENT}
        try:
            self._channel.send(KIND, plain)
        except (TypeError, AttributeError, pickle.PicklingError):
            # Something that the program has given along as `extra=`: the rest is worth telling.
            rest = {name: value for name, value in plain.items() if isinstance(value, _PLAIN)}
            self._channel.send(KIND, rest)


def send_logs(channel: Channel, levels: Mapping[str, int], handled: Iterable[str]) -> None:
    """Log in this process as the caller would: with its levels, to its handlers.

    A logger that is `handled` there is not handled here as well: the module that gave it a
    handler did so in both processes. A record that nobody handles goes to the caller too. The
    root is left free where it is free there, so that `logging.basicConfig()` does its work.
    """
    to_caller = _ToCaller(channel)
    logging.getLogger().handlers.clear()
    for name in handled:
        logging.getLogger(name).handlers[:] = [to_caller]
    logging.lastResort = to_caller
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def take_log(attributes: dict[str, Any]) -> None:
    """Handle a record of the child as if it had been made here."""
    record = logging.makeLogRecord(attributes)
    logger = logging.getLogger(record.name)
    if logger.isEnabledFor(record.levelno):
        logger.handle(record)
