"""The largest batch that Lowwater says to fit below a limit, as JSON on the last line.

$ python footprint_largest.py MODEL "400 MiB"
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main(name: str, limit: str) -> None:
    """Prints it with how sure it is."""
    from models import load

    import lowwater

    module = load(name)
    x, y = module.data(256)
    began = time.monotonic()
    found = lowwater.largest_batch(module.build(), x, y, limit=limit)
    answer = {"batch_size": int(found), "because": found.because}
    print(json.dumps({**answer, "elapsed_s": round(time.monotonic() - began, 1)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
