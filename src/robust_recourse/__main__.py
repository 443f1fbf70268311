"""``python -m robust_recourse``."""

import sys

from robust_recourse.cli import main

if __name__ == "__main__":
    sys.exit(main())
