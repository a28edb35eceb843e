"""The brake of the first run of a diagnosis, which is made to be looked at."""

from lowwater.agent.brake import Brake


class PatientBrake(Brake):
    """Lets every census be taken that is wanted; collections stay as rare as in any run.

    What the first run does not find, several more have to look for. But more collections would
    be another program: what they leave behind is judged, and where they fall tells how.
    """

    def allows_census(self, left_s: float, *, leaving: int = 0) -> bool:  # noqa: ARG002
        """Whatever it takes: there are five at most."""
        return True

    def allows_last_census(self, process_s: float) -> bool:  # noqa: ARG002
        """The same at the end of a loop."""
        return True
