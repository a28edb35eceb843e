"""What a trial may use, as the user wrote it: `"30 min"`, `"8 GiB"`, or plain numbers."""

from dataclasses import dataclass
from typing import Self

from lowwater.model.amounts import positive
from lowwater.model.units import parse_bytes, parse_duration

Duration = str | float | None
Size = str | int | None


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes; None is no limit."""

    timeout_s: float | None = None
    memory_bytes: int | None = None
    device_bytes: int | None = None

    @classmethod
    def of(cls, timeout: Duration = None, memory: Size = None, device_memory: Size = None) -> Self:
        """Read what the user wrote; `memory` holds for each device too, unless that is given."""
        memory_bytes = positive("`memory`", memory, parse_bytes, 'memory="8 GiB"')
        device_bytes = positive("`device_memory`", device_memory, parse_bytes, '"4 GiB"')
        return cls(
            timeout_s=positive("`timeout`", timeout, parse_duration, 'timeout="30 min"'),
            memory_bytes=None if memory_bytes is None else round(memory_bytes),
            device_bytes=round(device_bytes or memory_bytes or 0) or None,
        )

    def filled_from(self, others: "Limits") -> "Limits":
        """These, and the others where there is none among these."""
        return Limits(
            self.timeout_s or others.timeout_s,
            self.memory_bytes or others.memory_bytes,
            self.device_bytes or others.device_bytes,
        )
