"""What a user wants frameworks to do with the memory of GPUs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from lowwater.errors import UsageError
from lowwater.model.amounts import positive
from lowwater.model.units import format_bytes, parse_bytes


@dataclass(frozen=True, slots=True)
class DeviceSettings:
    """None is what the framework does by itself.

    `sizes` are those of the GPUs as the driver has them; `no_sizes` is why it does not tell.
    """

    growth: bool | None = None
    limit_bytes: int | None = None
    sizes: Sequence[int] = ()
    no_sizes: str = ""

    @classmethod
    def of(
        cls,
        growth: bool | None,  # noqa: FBT001 - as the user wrote it
        memory: str | float | None,
        name: str = "`memory`",
        example: str = 'memory="4 GiB"',
    ) -> Self:
        """Read what the user wrote."""
        if growth not in (None, True, False):
            msg = "`growth` must be True or False"
            raise UsageError(msg, received=repr(growth), advice="growth=True")
        limit = positive(name, memory, parse_bytes, example)
        return cls(growth, None if limit is None else max(1, round(limit)))

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """What `to_plain` made."""
        return cls(**plain)

    def to_plain(self) -> dict[str, Any]:
        """For the agent."""
        return asdict(self)

    @property
    def is_anything(self) -> bool:
        """Whether something is to be set."""
        return self.growth is not None or self.limit_bytes is not None

    @property
    def fraction(self) -> float | None:
        """The share of a GPU that is no more than the limit on any of them."""
        if self.limit_bytes is None or not self.sizes:
            return None
        return min(1.0, self.limit_bytes / max(self.sizes))

    @property
    def warnings(self) -> tuple[str, ...]:
        """A limit that no GPU can reach."""
        limit = self.limit_bytes
        return tuple(
            f"GPU {index} has only {format_bytes(size)}: a limit of {format_bytes(limit)} "
            "changes nothing there"
            for index, size in enumerate(self.sizes)
            if limit is not None and limit > size
        )
