"""`python -m nfvbed`."""

import sys

from nfvbed.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
