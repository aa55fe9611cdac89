"""A random forest on plain numbers of pockets (scikit-learn): counts of bases and atoms, histograms of distances between C1' atoms and
between nitrogen and oxygen. Runs in the environment of `scripts/setup --peers`; without it there is no such row."""
import json
import pathlib
import subprocess
import sys

SEEDS = (0, 1)


def forest_rankings(data, split):
    """{"forest on plain numbers, seed 0": metrics, ...}; empty without scikit-learn."""
    python = pathlib.Path.home() / ".cache" / "kdgat" / "peers" / "bin" / "python"
    if not python.exists():
        print("left out: the forest needs scripts/setup --peers", file=sys.stderr)
        return {}
    done = subprocess.run([str(python), __file__, str(data), split], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def numbers_of(text):
    import numpy as np
    residues, places, elements = {}, {"C1'": [], "N": [], "O": []}, [0.0] * 4
    for line in text.splitlines():
        if not line.startswith(("ATOM", "HETATM")):
            continue
        name, place = line[12:16].strip(), [float(line[30:38]), float(line[38:46]), float(line[46:54])]
        residues[line[21:27]] = line[17:20].strip()
        if name == "C1'":
            places["C1'"].append(place)
        if name[0] in "CNOP":
            elements["CNOP".index(name[0])] += 1
        if name[0] in "NO":
            places[name[0]].append(place)

    def distances(a, b):
        return np.linalg.norm(np.array(a)[:, None] - np.array(b)[None], axis=-1)

    bases = [sum(residue.endswith(base) for residue in residues.values()) for base in "ACGU"]
    sugars = distances(places["C1'"], places["C1'"])[np.triu_indices(len(places["C1'"]), 1)]
    polar = distances(places["N"], places["O"]).ravel()
    return np.concatenate([bases, elements, [len(residues)], np.histogram(sugars, bins=np.arange(0, 42, 2))[0],
                           np.histogram(polar, bins=np.arange(2, 21))[0]])


def main(data, split):
    import csv
    import tarfile

    import numpy as np
    from safetensors.numpy import load_file
    from sklearn.ensemble import RandomForestRegressor

    rows = list(csv.DictReader((data / "pockets.csv").open()))
    vectors = load_file(data / "ligand_maccs.safetensors")
    names = sorted(vectors)
    known = np.stack([vectors[name] for name in names]).astype(float)
    deviation = known.std(0)
    known = (known - known.mean(0)) / np.where(deviation < 1e-8, 1, deviation)
    with tarfile.open(data / "pockets.tar.gz") as archive:
        numbers = {member.name.split("/")[-1]: numbers_of(archive.extractfile(member).read().decode())
                   for member in archive if member.name.endswith(".pdb")}
    x = np.stack([numbers[row["file"]] for row in rows])
    y = np.array([names.index(row["ligand"]) for row in rows])
    train, test = (np.array([row[split] == part for row in rows]) for part in ("train", "test"))
    out = {}
    for seed in SEEDS:
        forest = RandomForestRegressor(300, random_state=seed, n_jobs=2).fit(x[train], known[y[train]])
        guess = forest.predict(x[test])
        near = (guess / np.linalg.norm(guess, axis=1, keepdims=True)) @ (known / np.linalg.norm(known, axis=1, keepdims=True)).T
        rank = 1 + (near > near[np.arange(len(near)), y[test]][:, None]).sum(1)
        count = len(names)
        out[f"forest on plain numbers, seed {seed}"] = {
            "top_1": float((rank <= 1).mean()), "mrr": float((1 / rank).mean()), "median_rank": float(np.median(rank)),
            **{f"hit_{p}": float((rank <= p * count // 100).mean()) for p in (5, 10, 20)}}
    print(json.dumps(out))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
