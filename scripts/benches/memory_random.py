"""Configurations drawn by a seed for `scripts/bench memory random`: each a training step of some
model, size, batch, precision, checkpointing and policy, on synthetic data of its kind."""
import json
import math
import random


def whole(draw, low, high):
    """Between both, each ratio as likely as another."""
    return round(math.exp(draw.uniform(math.log(low), math.log(high))))


def training(draw):
    return [f"batch_size={whole(draw, 16, 2048)}",
            f"precision={draw.choice(('32', '32', 'bf16-mixed', '16-mixed'))}",
            f"gradient_checkpointing={draw.choice(('false', 'true'))}",
            f"optimizer={draw.choice(('adam', 'adamw'))}",
            f"accumulate_grad_batches={draw.choice((1, 1, 2, 4))}",
            f"clear_cache_every_n={draw.choice((0, 0, 1, 10))}"]


def autoencoder(draw):
    widths = sorted((whole(draw, 8, 256) for _ in range(draw.randint(1, 3))), reverse=True)
    return [f"hidden_dims=[{','.join(map(str, widths))}]", f"latent_dim={whole(draw, 4, 64)}",
            f"heads={draw.choice((1, 2, 4, 8))}", f"embedding_dim={whole(draw, 4, 64)}"]


def classifier(draw):
    return [f"hidden={whole(draw, 4, 64)}", f"layers={draw.randint(1, 5)}",
            f"heads={draw.choice((1, 2, 4, 8))}", f"embedding_dim={whole(draw, 4, 64)}",
            f"fc_layers={draw.randint(1, 5)}",
            f"loss={draw.choice(('focal', 'cross_entropy'))}"]


def taught(draw, teacher):
    return ["use_kd=true", f"teacher_path={teacher}",
            f"teacher={draw.choice(('cache', 'resident', 'offload'))}"]


def molecules(draw):
    scalars, vectors = whole(draw, 8, 48), whole(draw, 2, 16)
    return [f"hidden_irreps={scalars}x0e+{vectors}x1o", f"num_layers={draw.randint(1, 4)}",
            "use_layer_norm=true", "baselines=false", f"batch_size={draw.choice((1, 2, 4, 8))}",
            f"precision={draw.choice(('32', 'bf16-mixed'))}",
            f"gradient_checkpointing={draw.choice(('false', 'true'))}"]


class Drawn:
    """Configurations by number; data and teachers are made in the scratch folder when they are
    first needed."""

    def __init__(self, build, seed):
        self.build, self.seed = build, seed

    def traffic(self, stride):
        def make(path):
            logs = self.build.once("traffic", lambda target: self.build.kdgat(
                "data", "synth", "-o", target, "--seconds", 60, "--vehicles", 2,
                "--attacks", "dos,fuzzing"))
            self.build.kdgat("data", "import", logs, "-o", path, f"stride={stride}")
        return self.build.once(f"windows_{stride}", make)

    def molecules(self, atoms, cutoff):
        def make(path):
            files = self.build.scratch / f"{path.name}_files"
            self.build.kdgat("data", "synth", "--kind", "molecules", "-o", files, "--graphs", 24,
                             "--nodes", atoms)
            self.build.kdgat("data", "import", files, "-o", path, f"distance_cutoff={cutoff}")
        return self.build.once(f"molecules_{atoms}_{cutoff}", make)

    def teacher(self, stage):
        root = self.build.once(f"teacher_{stage}", lambda path: self.build.kdgat(
            "run", stage, "--preset", "teacher", "--data", self.traffic(50), "--root", path,
            "max_epochs=1"))
        return next(root.glob(f"*/*/{stage}/model.safetensors"))

    def words(self, number):
        """What follows `kdgat run`; the same for a number and a seed everywhere, but for paths."""
        draw = random.Random(f"{self.seed}/{number}")
        kind = draw.choice(("autoencoder", "classifier", "classifier", "taught", "taught",
                            "molecules"))
        mode = f"memory_estimation={draw.choice(('measured', 'static'))}"
        if kind == "molecules":
            data = self.molecules(draw.choice((60, 150, 400)), draw.choice((3, 5)))
            return ["equivariant", "--data", data, *molecules(draw), mode]
        stage = draw.choice(("autoencoder", "classifier")) if kind == "taught" else kind
        words = [stage, "--data", self.traffic(draw.choice((25, 50, 100))), *training(draw)]
        words += autoencoder(draw) if stage == "autoencoder" else classifier(draw)
        if kind == "taught":
            words += taught(draw, self.teacher(stage))
        return [*words, mode]


class Ledger:
    """Rows by number in a file, a JSON object a line: a measurement that was ended goes on."""

    def __init__(self, path, of):
        self.path, self.of, self.rows = path, of, {}
        if path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                if row["of"] == of:
                    self.rows[row["number"]] = row

    def add(self, number, row):
        self.rows[number] = {"of": self.of, "number": number, **row}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(self.rows[number]) + "\n")
