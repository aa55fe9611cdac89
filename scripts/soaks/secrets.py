"""Passwords and tokens: what a run, its report, its submission and `kdgat sync` write and say is searched for them.

The address of an MLflow server on a loopback port holds a user, a password and a token; it is given on the command
line and by the environment, the server answers, fails and sends to another, which must be told neither.

run(options) reads of `options`: kdgat (the program) and scratch (an empty folder)."""
import base64
import http.server
import json
import os
import subprocess
import threading

from soaks.material import SECONDS, row

USER, PASSWORD, TOKEN = "ann", "pa55w0rd-of-ann", "t0ken-of-ann"
SECRETS = [PASSWORD.encode(), TOKEN.encode(), base64.b64encode(f"{USER}:{PASSWORD}".encode()).rstrip(b"=")]


class Server:
    """Takes every request for one of MLflow's; fails while `broken`, sends to `elsewhere` if that is set."""

    def __init__(self):
        self.broken, self.elsewhere, self.seen = False, "", []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                owner.seen.append(self.path.encode() + str(self.headers).encode() + body)
                if owner.elsewhere:
                    self.send_response(307)
                    self.send_header("Location", owner.elsewhere + self.path)
                else:
                    self.send_response(500 if owner.broken else 200)
                self.end_headers()
                if not owner.elsewhere:
                    self.wfile.write(json.dumps({
                        "experiment": {"experiment_id": "1"}, "experiment_id": "1",
                        "run": {"info": {"run_id": "r", "artifact_uri": "file:/nowhere"}}}).encode())

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def _found(content):
    return any(secret in content for secret in SECRETS)


def _where(said, folder):
    """What of `said` or of the files below a folder holds a secret."""
    out = ["said by: " + words for words, text in said if _found(text)]
    for path in sorted(folder.rglob("*")):
        if path.is_file() and _found(path.read_bytes()):
            out.append(str(path.relative_to(folder)))
    return out


def _open_to_others(folder, host):
    """Files that hold the address and that others than their owner may read."""
    return [str(path.relative_to(folder)) for path in folder.rglob("*")
            if path.is_file() and path.stat().st_mode & 0o077 and host.encode() in path.read_bytes()]


def run(options):
    """A row for each thing that is promised."""
    folder = options.scratch / "secrets"
    (folder / "bin").mkdir(parents=True)
    sbatch = folder / "bin" / "sbatch"
    sbatch.write_text("#!/bin/bash\necho 7\n")
    sbatch.chmod(0o755)
    server, other = Server(), Server()
    uri = f"http://{USER}:{PASSWORD}@{server.host}?token={TOKEN}"
    said = []

    def say(*words, **variables):
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", **variables}
        done = subprocess.run([options.kdgat, *words], cwd=folder, env=environment, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, capture_output=True)
        said.append((" ".join(words[:2]), done.stdout + done.stderr))
        return done

    try:
        to = ("--mlflow-uri", uri)
        codes = [say("run", "example", "steps=2", *to).returncode]
        was_told = any(_found(request) for request in server.seen)
        say("run", "example", "steps=2", "--dry-run", *to)
        say("run", "example", "steps=wrong", *to)
        say("config", "show", "example", "--origin", *to)
        say("config", "show", "example", "--json", *to)
        codes.append(say("submit", "example", "steps=3", "--dry-run", *to).returncode)
        codes.append(say("submit", "example", "steps=3", *to).returncode)
        codes.append(say("run", "example", "steps=4", MLFLOW_TRACKING_URI=uri).returncode)
        server.broken = True
        say("run", "example", "steps=5", *to)
        say("sync", "--to", uri)
        server.broken, server.elsewhere = False, f"http://{other.host}"
        say("run", "example", "steps=6", *to)
        for run_file in sorted(folder.glob("runs/*/*/run.json")):
            say("runs", "show", str(run_file.parent))
            say("report", str(run_file.parent))
        say("runs", "list", "--json")
    finally:
        server.close()
        other.close()
    places, readable = _where(said, folder), _open_to_others(folder, server.host)

    return [
        row("secrets", "the server is told", was_told and not any(codes), f"exit codes {codes}",
            f"{len(server.seen)} requests"),
        row("secrets", "written or said", not places, ", ".join(places) or "nowhere",
            f"{len(said)} commands"),
        row("secrets", "files with the address", not readable,
            ", ".join(readable) or "for their owner alone"),
        row("secrets", "another origin", other.seen and not any(map(_found, other.seen)),
            "told no credentials", f"{len(other.seen)} requests"),
    ]
