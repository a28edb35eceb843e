"""Closes sessions of `tf.compat.v1`: an open one keeps its variables outside of Python."""

from lowwater.giveback.living import SESSION
from lowwater.giveback.request import ReleaseRequest
from lowwater.giveback.sessions import close, is_open
from lowwater.giveback.steps._step import ReleaseStep


class V1Sessions(ReleaseStep):
    """The sessions that were given, or made inside the block. With `force` all of them."""

    name = "close sessions"

    def run(self, request: ReleaseRequest) -> str | None:
        """Close them; others that are open may be in use, and are only told of."""
        given = {one.identity for one in request.alive(SESSION)} - request.kept
        every = [one for one in request.living(SESSION) if is_open(one)]
        mine = [one for one in every if request.force or id(one) in given]
        for session in mine:
            close(session)
        others = len(every) - len(mine)
        if others:
            told = f"{others} open session{'s' if others > 1 else ''}"
            request.notes.append(f"{told} left open; may still be in use: see lowwater.sessions()")
        return "" if mine else None
