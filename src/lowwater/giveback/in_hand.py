"""What of a model the program has in hand besides: the optimizer that it was compiled with, say."""

from collections.abc import Iterable
from typing import Any

from lowwater.giveback.parts import parts_of
from lowwater.giveback.program_variables import roots_now
from lowwater.giveback.unread import unread_now
from lowwater.giveback.ways import Ways


def parts_in_hand(things: Iterable[Any]) -> set[int]:
    """The identity of all that belongs to these objects and that the program may use without them.

    It is in a variable that is read again, in a container or in an object of the program's own.
    """
    given = {id(thing) for thing in things}
    parts = {id(part): part for thing in things for part in parts_of(thing)}
    unread = unread_now()
    roots = [root for root in roots_now() if (root.name, id(root.value)) not in unread]
    ways = Ways(parts, roots)
    own = [part for key, part in parts.items() if key not in given]
    held = [part for part in own if any(way.is_in_hand for way in ways.to(part))]
    return {id(one) for part in held for one in parts_of(part)} - given
