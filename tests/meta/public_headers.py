"""Every public header compiles alone, in C11 and in C++17, without warnings.

usage: public_headers.py CC CXX [--mpi-flags FLAGS...]"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from house import ROOT, Report, sources

cc, cxx, mpi = sys.argv[1], sys.argv[2], None
if "--mpi-flags" in sys.argv:
    mpi = sys.argv[sys.argv.index("--mpi-flags") + 1:]

WARN = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror",
        "-fsyntax-only"]
WAYS = {
    "C11": [cc, "-x", "c", "-std=c11", "-Wstrict-prototypes"],
    "C++17": [cxx, "-x", "c++", "-std=c++17", "-Wold-style-cast"],
}


def compile_alone(job):
    header, way = job
    flags = list(WAYS[way])
    if header.endswith("comm_mpi.h"):
        # mpi.h is not ours to judge
        flags += [f.replace("-I", "-isystem", 1) if f.startswith("-I") else f
                  for f in mpi]
    # Twice: the guard holds.
    text = f"#include <{header}>\n#include <{header}>\n"
    run = subprocess.run(flags + WARN + ["-I", os.path.join(ROOT, "include"), "-"],
                         input=text, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    return header, way, run.returncode, run.stdout


report = Report()
headers = [n[len("include/"):] for n in sources("include/cairn")]
if mpi is None:
    headers = [h for h in headers if not h.endswith("comm_mpi.h")]
with ThreadPoolExecutor(2) as pool:
    jobs = [(h, way) for h in headers for way in WAYS]
    for header, way, status, text in pool.map(compile_alone, jobs):
        report.look()
        if status != 0:
            report.bad(header, f"does not compile alone as {way}:\n{text}")
report.done("compilations")
