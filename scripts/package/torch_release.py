"""What the wheel's metadata say of PyTorch. The program loads with the release that it is built
with and with no other. So its version names that release, 0.1.0+torch2.15.0, and it requires it."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def dynamic_metadata(field, settings):
    """Of LIBTORCH_ROOT, or of the release that scripts/setup installs."""
    said = subprocess.run([ROOT / "scripts/setup", "--release"], check=True, stdout=subprocess.PIPE)
    release = said.stdout.decode().strip()
    if field == "dependencies":
        return [f"torch=={release}", "numpy>=1.24"]
    project = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(kdgat VERSION ([0-9.]+)", project).group(1)
    return f"{version}+torch{release}"
