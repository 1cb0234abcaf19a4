"""``python -m pathcast`` is the command line."""

from pathcast.cli import main

if __name__ == "__main__":
    main()
