"""Arrays that came back from isolated calls: shared memory, which malloc does not see."""

import sys

from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import RESULTS_MAPPED


class ResultsProbe:
    """Asks the part that maps them, if the program has loaded it."""

    name = "results"

    def read(self) -> Reading | NotMeasured:
        """The bytes of those that live."""
        parcel = sys.modules.get("lowwater.isolation.parcel")
        return Reading({RESULTS_MAPPED: parcel.mapped_bytes()} if parcel is not None else {})
