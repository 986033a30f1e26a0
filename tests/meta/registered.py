"""Every C file of the repository is compiled in this build, and every test
program and script is run by ctest.

usage: registered.py BUILD"""

import json
import os
import re
import sys

from house import MPI_FILE, ROOT, Report, read, sources

# Compiled, but not by this build.
ELSEWHERE = (
    "tests/meta/consumer/",   # by tests/meta/install.py
    "tests/support/plain/",   # with the thread sanitizer
)

build = sys.argv[1]
with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
    commands = json.load(f)
compiled = {os.path.relpath(os.path.join(c["directory"], c["file"]), ROOT)
            for c in commands}
with_mpi = any("comm_mpi" in c for c in compiled)

report = Report()
for name in sources("runtime", "handlers", "tools", "tests", "examples", "bindings",
                    ends=(".c",)):
    report.look()
    if name.startswith(ELSEWHERE) or (name == MPI_FILE and not with_mpi):
        continue
    if name not in compiled:
        report.bad(name, "is in no target of this build")

# What ctest reads; asking ctest itself would overwrite the log of the one that
# runs this.
folder = os.path.join(build, "tests")
registered = ""
programs = []
for directory, dirs, files in os.walk(folder):
    dirs[:] = [d for d in dirs if d != "CMakeFiles"]
    for file in files:
        path = os.path.join(directory, file)
        if file == "CTestTestfile.cmake":
            with open(path, encoding="utf-8") as f:
                registered += f.read()
        elif os.access(path, os.X_OK) and "." not in file:
            programs.append(path)


def used_by_script(program):
    """A helper, found by the Python tests of its folder through CAIRN_BUILD_DIR."""
    name = os.path.relpath(os.path.dirname(program), build)
    return any(re.search(rf"\b{os.path.basename(program)}\b", read(script))
               and os.path.join(ROOT, script) in registered
               for script in sources(name, ends=(".py",)))


for program in programs:
    report.look()
    if not re.search(re.escape(program) + r'["; ]', registered) and \
            not used_by_script(program):
        report.bad(os.path.relpath(program, build), "is a program no test runs")
for name in sources("tests", ends=(".py",)):
    if os.path.basename(name).startswith("test_"):
        report.look()
        if os.path.join(ROOT, name) not in registered:
            report.bad(name, "is a test ctest does not run")
report.done("files and programs")
