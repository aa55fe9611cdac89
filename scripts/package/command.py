#!python
import os
import sys

for folder in sys.path:
    program = os.path.join(folder, "kdgat", "program", "kdgat")
    if os.access(program, os.X_OK):
        try:
            os.execv(program, ["kdgat", *sys.argv[1:]])
        except OSError as error:
            sys.exit(f"error: {program} cannot be started: {error}")
sys.exit("error: the package kdgat is not in this environment (pip install kdgat)")
