"""Messages between our own processes: small ones, with open files beside them.

The socket keeps messages apart, so one that arrives is whole. Its end is told as None: the other
side has closed it, or is dead.
"""

import errno
import os
import pickle
import socket
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from lowwater.isolation.parcel import nameless_file

_MOST_BYTES = 128 * 1024
_MOST_DESCRIPTORS = 253
# In the place of a message that is larger, as a long log record: it is in the last descriptor.
_IN_A_FILE = b"in a file"


class Message(NamedTuple):
    """What arrived; the descriptors belong to the receiver."""

    kind: str
    body: Any
    descriptors: list[int]


class Channel:
    """One end of a connection; any thread may send."""

    def __init__(self, end: socket.socket) -> None:
        """Take over this socket."""
        self._socket = end
        self._sending = threading.Lock()

    @classmethod
    def pair(cls) -> tuple[Self, Self]:
        """Both ends of a new connection."""
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return cls(here), cls(there)

    @classmethod
    def of(cls, descriptor: int) -> Self:
        """The end that another process handed over."""
        return cls(socket.socket(fileno=descriptor))

    def fileno(self) -> int:
        """For `select`, and to hand it over."""
        return self._socket.fileno()

    def send(self, kind: str, body: Any = None, descriptors: Sequence[int] = ()) -> None:  # noqa: ANN401
        """Send one message; an OSError says that nobody is there to read it."""
        message = pickle.dumps((kind, body), protocol=5)
        if len(message) <= _MOST_BYTES:
            self._send(message, descriptors)
            return
        with nameless_file() as file:
            file.write(message)
            file.seek(0)
            self._send(_IN_A_FILE, [*descriptors, file.fileno()])

    def receive(self) -> Message | None:
        """Wait for the next message; None is the end."""
        try:
            data, descriptors, flags, _ = socket.recv_fds(
                self._socket, _MOST_BYTES, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionResetError:
            return None
        if flags & socket.MSG_CTRUNC:  # the kernel drops those that there is no room for
            close_all(descriptors)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        if not data:
            return None
        if data == _IN_A_FILE:
            with open(descriptors.pop(), "rb") as file:
                data = file.read()
        kind, body = pickle.loads(data)  # noqa: S301 - from our own process
        return Message(kind, body, descriptors)

    def _send(self, message: bytes, descriptors: Sequence[int]) -> None:
        with self._sending:
            socket.send_fds(self._socket, [message], [*descriptors])

    def close(self) -> None:
        """Safe to call twice."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def close_all(descriptors: Sequence[int]) -> None:
    """Close what was handed to us."""
    for one in descriptors:
        os.close(one)
