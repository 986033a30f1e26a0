"""Every C file of the repository is compiled in this build, and every test
program is run by ctest.

usage: registered.py BUILD"""

import json
import os
import re
import sys

from house import MPI_FILE, ROOT, Report, sources

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
run = set()
for directory, dirs, files in os.walk(folder):
    if "CTestTestfile.cmake" in files:
        with open(os.path.join(directory, "CTestTestfile.cmake"), encoding="utf-8") as f:
            run |= {os.path.realpath(w) for w in re.findall(r'"(/[^"]+)"', f.read())}
for directory, dirs, files in os.walk(folder):
    dirs[:] = [d for d in dirs if d != "CMakeFiles"]
    for file in files:
        path = os.path.realpath(os.path.join(directory, file))
        if os.access(path, os.X_OK) and "." not in file:
            report.look()
            if path not in run:
                report.bad(os.path.relpath(path, build), "is a program no test runs")
report.done("files and programs")
