"""What the tests in this folder know about the house: its rooms and their
levels (docs/architecture.md), its files, and how to report."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# A room includes rooms on lower levels only, besides itself.
ROOMS = {
    "base": 0,
    "loop": 1,
    "io": 2, "comm": 2, "codec": 2, "snapshot": 2, "tree": 2,
    "kv": 3,
    "array": 4, "ocdbt": 4,
    "strategy": 5,
    "checkpoint": 6, "handlers": 6,
    "manager": 7, "export": 7,
    "tools": 8,
}

# A public header belongs to the lowest room that may include it.
HEADERS = {
    "types.h": 0, "error.h": 0, "buf.h": 0, "json.h": 0,
    "future.h": 1, "runtime.h": 1, "plugin.h": 1,
    "comm.h": 2, "comm_mpi.h": 2, "codec.h": 2, "tree.h": 2, "memory.h": 2,
    "kv.h": 3,
    "array.h": 4,
    "strategy.h": 5,
    "handler.h": 6, "checkpointer.h": 6, "inspect.h": 6,
    "manager.h": 7, "export.h": 7,
    "cairn.h": 8,
}

# The only file that knows MPI.
MPI_FILE = "runtime/comm/comm_mpi.c"

SKIPPED = 77


def tracked():
    """Paths of the repository's files, relative to its root; a release without
    git's directory is walked."""
    try:
        out = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z",
             "--cached", "--others", "--exclude-standard"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        names = [n for n in out.decode().split("\0") if n]
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, dirs, files in os.walk(ROOT):
            dirs[:] = [d for d in dirs
                       if not d.startswith((".", "build")) and d != "runs"]
            names += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
    return sorted(n for n in set(names) if os.path.isfile(os.path.join(ROOT, n)))


def sources(*folders, ends=(".c", ".h", ".inc")):
    return [n for n in tracked()
            if n.endswith(ends) and n.startswith(tuple(f + "/" for f in folders))]


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as f:
        return f.read()


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


TOKENS = re.compile(
    r'(?P<comment>/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
    re.S)


def without_comments(text):
    """The same text, same lines, with spaces for comments."""
    return TOKENS.sub(lambda m: blank(m) if m.group("comment") else m.group(0), text)


def code_only(text):
    """The same text, same lines, with spaces for comments and strings."""
    return TOKENS.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


class Report:
    """Counts what was looked at; a check that looked at nothing fails."""

    def __init__(self):
        self.looked = 0
        self.found = []

    def look(self, n=1):
        self.looked += n

    def bad(self, where, what):
        self.found.append(f"{where}: {what}")

    def done(self, what):
        for line in self.found:
            print(line)
        print(f"{self.looked} {what}, {len(self.found)} found wanting")
        sys.exit(1 if self.found or self.looked == 0 else 0)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)
