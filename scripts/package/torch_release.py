"""What the wheel's metadata say of PyTorch: the program loads with the release that it is built with and with no other, so
that its version names it, 0.1.0+torch2.13.0, and it requires that release."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def dynamic_metadata(field, settings):
    """Of LIBTORCH_ROOT, or of the release that scripts/setup installs."""
    release = subprocess.run([ROOT / "scripts/setup", "--release"], check=True, capture_output=True, text=True).stdout.strip()
    if field == "dependencies":
        return [f"torch=={release}", "numpy>=1.24"]
    version = re.search(r"project\(kdgat VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    return f"{version}+torch{release}"
