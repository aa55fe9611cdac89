"""CAN logs in the published layout, and what is made of them: linked, cut, put one behind the other."""
import gzip
import itertools
import pathlib
import shutil

WINDOW = 100  # rows; the default of the detector


def log_files(folder):
    return sorted(path for path in pathlib.Path(folder).iterdir() if path.name.endswith((".csv", ".csv.gz")))


def folder_of(data, prefix):
    """Of a data set the folder whose name begins so: "test_03", "train_01"."""
    return next(path for path in sorted(pathlib.Path(data).iterdir()) if path.name.startswith(prefix))


def sources_of(data):
    return [path for folder in sorted(pathlib.Path(data).iterdir()) if folder.is_dir() for path in log_files(folder)]


def link(files, folder):
    """Linked folders are not followed when logs are imported, linked files are."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        (folder / path.name).symlink_to(path.resolve())


def link_folders(data, target, prefix):
    for folder in sorted(pathlib.Path(data).iterdir()):
        if folder.is_dir() and folder.name.startswith(prefix):
            link(log_files(folder), target / folder.name)


def open_log(path):
    return gzip.open(path, "rt") if path.suffix == ".gz" else open(path)


def name_of(path):
    """Without the endings."""
    return path.name.removesuffix(".gz").removesuffix(".csv")


class Rows:
    """Rows of a log with the columns timestamp, id, payload, label, below their header."""

    def __init__(self, path):
        with open_log(path) as lines:
            self.header = next(lines)
            self.lines = list(lines)

    def first_attack(self):
        return next((i for i, line in enumerate(self.lines) if line.rstrip().endswith(",1")), len(self.lines))

    def time(self, row):
        return float(self.lines[row].split(",", 1)[0])

    def shifted(self, rows, seconds):
        """The first so many lines, later by so many seconds."""
        for line in itertools.islice(self.lines, rows):
            time, rest = line.split(",", 1)
            yield f"{float(time) + seconds:.6f},{rest}"


def write_rows(path, header, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as out:
        out.write(header)
        out.writelines(lines)


def cut(path, share, head, tail):
    """The first `share` of its rows goes to the folder `head`, the rest to `tail`."""
    rows = Rows(path)
    at = int(len(rows.lines) * share)
    write_rows(head / (name_of(path) + ".csv"), rows.header, rows.lines[:at])
    write_rows(tail / (name_of(path) + ".csv"), rows.header, rows.lines[at:])


def put_ahead(before, path, target):
    """Whole windows of `before`, logs one after another, and then `path`, with the time going on."""
    gap = 0.001
    log, total = Rows(path), sum(len(rows.lines) for rows in before)
    room, pieces = total // WINDOW * WINDOW, []
    for rows in before:
        pieces.append((rows, min(room, len(rows.lines))))
        room -= pieces[-1][1]
    moves, begin = [], log.time(0)
    for rows, count in reversed(pieces):
        moves.insert(0, begin - gap - rows.time(count - 1))
        begin = rows.time(0) + moves[0]
    ahead = itertools.chain.from_iterable(rows.shifted(count, move) for (rows, count), move in zip(pieces, moves))
    write_rows(target / (name_of(path) + ".csv"), log.header, itertools.chain(ahead, log.lines))


def cut_by_time(path, seconds, head, tail):
    """Rows of the first seconds go to the folder `head`, the rest to `tail`; however long the log is."""
    for folder in (head, tail):
        folder.mkdir(parents=True, exist_ok=True)
    name = name_of(path) + ".csv"
    with open_log(path) as lines, open(head / name, "w") as first, open(tail / name, "w") as rest:
        header = next(lines)
        line = next(lines)
        end = float(line.split(",", 1)[0]) + seconds
        first.write(header)
        rest.write(header)
        while line and float(line.split(",", 1)[0]) < end:
            first.write(line)
            line = next(lines, "")
        rest.write(line)
        shutil.copyfileobj(lines, rest)
