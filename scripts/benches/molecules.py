"""A training step of the equivariant encoder of molecules.

  scripts/bench molecules [--peer "PYTHON rna3e_torch.py"] [--only EDGES,...]
  scripts/bench molecules --hygiene

A synthetic pocket, drawn alike by both programs: 24 directed edges an atom, the default irreps, 2 layers, forward,
backward and AdamW. Edges x layers a second and memory of a step over the start, on one and two threads, beside three
forms of the peer: `factored` (no weights of edges), `einsum` and `e3nn` (weights of each edge kept). Then the pocket on
which the published program ran out of memory. Where others use the machine too, --processor takes the processor's
time instead of the clock's, on one thread.

With --hygiene: what the allocator counts over steps of the messages alone, of 20,000 edges, with a weight of each edge
kept for backward and without, each with what no tensor uses given back after every fifth step and without; then with
tensors held below a limit."""
import json
import resource
import subprocess

from benches.common import Failed, Figure, Setup, environment, median, output

SETUP = Setup(targets=("kdgat_molecule_bench",), threads=1, head="machine")
ATOMS = {5000: 215, 20000: 860, 80000: 3440}
LAYERS = 2
LARGE = (7030, 232000, 6)  # atoms, edges, layers
FORMS = ("factored", "einsum", "e3nn")
HYGIENE = {"form": ("kept", "factored"), "release": (0, 5), "steps": 10, "limit": 512}  # MB
GOALS = {"factored": 2.5, "einsum": 8, "e3nn": 15}


def add_arguments(parser):
    parser.add_argument("--only", default="", help="numbers of edges to measure, of 5000,20000,80000,232000; all")
    parser.add_argument("--steps", type=int, default=6, help="of a run, of which the first is left out")
    parser.add_argument("--peer-steps", type=int, default=4)
    parser.add_argument("--hygiene", action="store_true", help="what giving memory back cures, and what not")
    parser.add_argument("--processor", action="store_true", help="time of the processor, not of the clock")


def step_of(build, args, size, threads):
    """Seconds of a step, and the run; the first step of it is left out."""
    atoms, edges, layers = size
    command = build.command("kdgat_molecule_bench", "step", atoms, edges, layers, args.steps, threads)
    run = json.loads(output(command, environment(threads)))
    return median(run["processor_s" if args.processor else "step_s"][1:]), run


def peer_step(args, form, edges, threads, steps):
    """Seconds of a step and MB over the start; None where the form is not installed."""
    run, processor = peer_run(args, form, edges, threads, steps)
    if run is None:
        return None
    seconds = median(run["step_s"][1:])
    if args.processor:  # without the start, the pocket and the first step
        seconds = (processor - peer_run(args, form, edges, threads, 1)[1]) / (steps - 1)
    return seconds, run["peak_over_start_mib"] * 2**20 / 1e6


def peer_run(args, form, edges, threads, steps):
    """What it prints, and seconds of the processor."""
    words = ["--form", form, "--atoms", ATOMS[edges], "--edges", edges, "--layers", LAYERS, "--steps", steps]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*args.peer.words, *map(str, words)], env=environment(threads), capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        if "No module named 'e3nn'" in done.stderr:
            return None, 0
        raise Failed(f"the peer's form {form} ended with {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1]), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wanted(args):
    return {int(word) for word in args.only.split(",")} if args.only else {*ATOMS, LARGE[1]}


def hygiene(build, args):
    yield ("| form | given back | peak of tensors, MB | of pages | pages between steps | after giving back |\n"
           + "|---" * 6 + "|")
    runs = {(form, release, limit): build.json("kdgat_molecule_bench", "hygiene", ATOMS[20000], 20000, LAYERS,
                                               HYGIENE["steps"], args.threads, form, release, limit)
            for limit in (0, HYGIENE["limit"]) for form in HYGIENE["form"] for release in HYGIENE["release"]}
    words = {0: "never", 5: "every 5th step"}
    for (form, release, limit), run in runs.items():
        if not limit:
            yield (f"| {form} | {words[release]} | {run['peak_tensor_mb']:,.0f} | {run['peak_reserved_mb']:,.0f} | "
                   f"{run['between_steps_mb']:,.0f} | {run['after_release_mb']:,.0f} |")
    for (form, release, limit), run in runs.items():
        if limit:
            end = (f"ends in step {run['steps'] + 1}, where it asks for {run['asked_mb']:.0f} MB with {run['held_mb']:.0f} held"
                   if "asked_mb" in run else f"{run['steps']} steps")
            yield f"below {limit} MB, {form}, given back {words[release]}: {end}"


def measure(build, args):
    if args.hygiene:
        yield from hygiene(build, args)
        return
    rates = {}
    yield ("| edges | threads | edges x layers / s | memory, MB: tensors (resident) | "
           + " | ".join(f"{form}: ratio, edges x layers / s, MB" for form in FORMS) + " |\n" + "|---" * (4 + len(FORMS)) + "|")
    for edges in sorted(wanted(args) & set(ATOMS)):
        for threads in (1,) if args.processor else (1, 2):
            rate, text = table_row(build, args, edges, threads)
            rates[edges, threads] = rate
            yield text
            goal = "goal 120,000" if (edges, threads) == (20000, 1) else ""
            yield Figure(f"{edges} edges, {threads} threads", rate, "edges/s", goal=goal, shown=False)
    for edges in sorted({edges for edges, _ in rates}):
        if (edges, 2) in rates:
            yield f"{edges:,} edges: two threads {rates[edges, 2] / rates[edges, 1]:.2f}x one"
    if LARGE[1] in wanted(args) and not args.processor:
        seconds, run = step_of(build, args, LARGE, 2)
        yield (f"{run['nonbonded_edges']:,} edges, {LARGE[0]:,} atoms, {LARGE[2]} layers, two threads: {seconds:.1f} s a step, "
               f"peak {run['peak_tensor_mb']:.0f} MB of tensors, {run['peak_resident_mb']:.0f} MB resident over the start")


def table_row(build, args, edges, threads):
    """Ours and the peer's forms in turn, and of each the median."""
    ours, peers = [], {form: [] for form in FORMS}
    # The forms with weights of edges take minutes and gigabytes at the largest size.
    repeat = args.repeat if edges < 80000 else min(args.repeat, 3)
    for turn in range(repeat):
        ours.append(step_of(build, args, (ATOMS[edges], edges, LAYERS), threads))
        if not args.peer or turn >= (args.peer_repeat if edges < 80000 else 1):
            continue
        for form in FORMS:
            answer = peer_step(args, form, edges, threads, args.peer_steps if edges < 80000 else 2)
            if answer:
                peers[form].append(answer)
    work = edges * LAYERS
    seconds = median(run[0] for run in ours)
    cells = [f"{edges:,}", str(threads), f"{work / seconds:,.0f}",
             f"{median(run[1]['peak_tensor_mb'] for run in ours):.0f} ({median(run[1]['peak_resident_mb'] for run in ours):.0f})"]
    for form in FORMS:
        if not peers[form]:
            cells.append("not installed" if args.peer else "")
            continue
        of_peer = median(run[0] for run in peers[form])
        cells.append(f"{of_peer / seconds:.1f}x, {work / of_peer:,.0f}, {median(run[1] for run in peers[form]):,.0f}")
    return work / seconds, "| " + " | ".join(cells) + " |"
