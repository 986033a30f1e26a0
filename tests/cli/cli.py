"""What the tests of the tool share: running it, the fixtures, copies to damage.

A script's arguments are the tool, make_step, and the folder of fixtures."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL, MAKE_STEP, FIXTURES = map(os.path.abspath, sys.argv[1:4])
ORBAX = os.path.join(FIXTURES, "orbax")
SKIPPED = 77

# Exit statuses (cairn.1).
FINE, FOUND, USAGE, ABSENT, IO, UNSUPPORTED = range(6)


class Run:
    """One run of the tool."""

    def __init__(self, *args, stdin=None, env=None, stdout=subprocess.PIPE):
        done = subprocess.run([TOOL, *args], stdin=stdin, stdout=stdout,
                              stderr=subprocess.PIPE, timeout=300,
                              env={**os.environ, **(env or {})})
        self.status = done.returncode
        self.bytes = done.stdout
        self.err = done.stderr.decode()

    @property
    def out(self):
        return self.bytes.decode()

    @property
    def json(self):
        return json.loads(self.bytes)

    def __repr__(self):
        return f"status {self.status}\n{self.bytes[-2000:]}\n{self.err}"


class Case(unittest.TestCase):
    def cairn(self, *args, status=FINE, **kw):
        """Runs the tool, which must end with that status and, if it is not
        content, say so in one line."""
        run = Run(*args, **kw)
        self.assertEqual(run.status, status, run)
        if status == FINE:
            self.assertEqual(run.err, "", run)
        elif status != FOUND:
            self.assert_error_line(run)
        return run

    def assert_error_line(self, run):
        self.assertTrue(run.err.startswith("cairn: ") and run.err.endswith("\n"), run)
        self.assertEqual(run.err.count("\n"), 1, run)

    def scratch(self):
        folder = tempfile.mkdtemp(prefix="cairn-cli-")
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def copy(self, source):
        target = os.path.join(self.scratch(), os.path.basename(source))
        shutil.copytree(source, target)
        return target

    def saved(self, *options, step=7):
        """A root with one step that Cairn saved (see make_step.c)."""
        root = os.path.join(self.scratch(), "root")
        subprocess.run([MAKE_STEP, root, str(step), *options], check=True, timeout=300)
        return root


def fixture(name):
    path = os.path.join(ORBAX, name)
    return path if os.path.isdir(path) else None


needs_fixtures = unittest.skipUnless(os.path.isdir(ORBAX), f"no fixtures in {ORBAX}")


def files_of(folder):
    """Every file below a folder, by its path in it."""
    found = []
    for directory, _, files in os.walk(folder):
        found += [os.path.relpath(os.path.join(directory, f), folder) for f in files]
    return sorted(found)


def flip(path, at, bit=0):
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ (1 << bit)]))


def main():
    del sys.argv[1:4]
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun and len(result.skipped) == result.testsRun:
        sys.exit(SKIPPED)
