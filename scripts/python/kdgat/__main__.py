"""python -m kdgat WORD ...: the program, with these words."""
import sys

from .errors import Error
from .executable import replace

if __name__ == "__main__":
    try:
        replace(sys.argv[1:])
    except (Error, OSError) as e:
        sys.exit(f"error: {e}")
