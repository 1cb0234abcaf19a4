"""``pathcast spark`` as a script: ``spark-submit ... $(pathcast spark script) match ...``."""

import sys

if __name__ == "__main__":
    # spark-submit puts this file's folder first, where `match.py` and others would hide top-level modules.
    sys.path[:] = [place for place in sys.path if not place.rstrip("/").endswith("pathcast/cli")]
    sys.argv[1:1] = ["spark"]
    from pathcast.cli import main

    main()
