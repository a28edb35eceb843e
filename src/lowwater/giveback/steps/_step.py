"""What a step of the ladder is."""

from typing import ClassVar

from lowwater.giveback.request import ReleaseRequest


class ReleaseStep:
    """One thing that gives memory back; memory is measured before and after it.

    A gentle step loses nothing that a living object needs, not even time. Steps that touch the
    state of a library are for level `thorough`.
    """

    name: ClassVar[str]
    about: ClassVar[str] = ""
    is_gentle: ClassVar[bool] = True

    def run(self, request: ReleaseRequest) -> str | None:
        """Do it. Return the reason if nothing was done, None if it does not concern this program.

        The empty string says that it was done.
        """
        raise NotImplementedError
