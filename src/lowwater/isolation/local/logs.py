"""Log records of the child reach the handlers of the caller."""

import logging
from collections.abc import Mapping
from logging.handlers import QueueHandler
from typing import Any

from lowwater.isolation.local.channel import Channel

KIND = "log"


class _ToCaller(QueueHandler):
    """Sends each record, made plain as for a queue between processes."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(queue=None)  # type: ignore[arg-type]
        self._channel = channel

    def enqueue(self, record: logging.LogRecord) -> None:
        self._channel.send(KIND, record.__dict__)


def send_logs(channel: Channel, levels: Mapping[str, int]) -> None:
    """Log in this process as the caller would: with its levels, to its handlers."""
    root = logging.getLogger()
    root.handlers[:] = [_ToCaller(channel)]
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def take_log(attributes: dict[str, Any]) -> None:
    """Handle a record of the child as if it had been made here."""
    record = logging.makeLogRecord(attributes)
    logger = logging.getLogger(record.name)
    if logger.isEnabledFor(record.levelno):
        logger.handle(record)
