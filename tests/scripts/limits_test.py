"""A sample of the soak of memory limits: tests/scripts/limits_test.py KDGAT"""
import pathlib
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

from soaks import limits

SKIPPED = 77  # ctest's word for it
SIZES = (100, 400)
WORDS = (*limits.WORDS, "data.synth.seconds=20")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        rows = limits.run(types.SimpleNamespace(kdgat=pathlib.Path(sys.argv[1]).resolve(), scratch=pathlib.Path(scratch),
                                                sizes=SIZES, words=WORDS))
    for row in rows:
        print(row["case"], row["outcome"], row["figure"], sep=" | ")
    if rows[0]["outcome"].startswith("skipped"):
        return SKIPPED
    bad = [row["case"] for row in rows if not row["good"]]
    if bad or len(rows) < len(SIZES):
        print("not as promised:", ", ".join(bad))
        return 1
    return 0


sys.exit(main())
