"""Where the checkpoints of orbax_make.py are kept: made once for these sources
and versions, below the build directory."""

import fcntl
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("orbax_make.py", "trees.py")
PACKAGES = ("orbax-checkpoint", "tensorstore", "jax", "numpy")


def _digest():
    h = hashlib.sha256()
    for name in SOURCES:
        with open(os.path.join(HERE, name), "rb") as f:
            h.update(f.read())
    for name in PACKAGES:
        h.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    return h.hexdigest()[:16]


def directory():
    """Makes them if they are not there."""
    build = os.environ.get("CAIRN_BUILD_DIR", "/tmp")
    base = os.path.join(build, "tests", "oracle", "orbax")
    out = os.path.join(base, _digest())
    os.makedirs(base, exist_ok=True)
    with open(os.path.join(base, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
        if not os.path.exists(os.path.join(out, "done")):
            for old in os.listdir(base):
                if old != "lock":
                    shutil.rmtree(os.path.join(base, old))
            subprocess.run([sys.executable, "-B", os.path.join(HERE, "orbax_make.py"), out],
                           check=True, timeout=800)
    return out


if __name__ == "__main__":
    print(directory())
