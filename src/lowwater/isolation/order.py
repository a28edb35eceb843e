"""A call that is ready to be made elsewhere: what an engine is given."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lowwater.isolation.cancel import Cancel
from lowwater.isolation.lending import Lender
from lowwater.isolation.limits import Limits
from lowwater.isolation.local.logs import take_log
from lowwater.isolation.parcel import Parcel
from lowwater.isolation.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class TrialOrder:
    """The packed call and all that belongs to it. What is below `lender` stays with the caller."""

    call: Parcel
    limits: Limits = field(default_factory=Limits)
    surroundings: Surroundings = field(default_factory=Surroundings.here)
    lender: Lender = field(default_factory=Lender)
    cancel: Cancel | None = None
    take_log: Callable[[dict[str, Any]], None] = take_log
