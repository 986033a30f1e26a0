"""handlers/ builds with the public headers and nothing else on the include
path, as a user's handler would.

usage: handlers_alone.py CC"""

import os
import subprocess
import sys

from house import ROOT, Report, skip, sources

files = sources("handlers", ends=(".c",))
if not files:
    skip("there are no handlers")
report = Report()
for name in files:
    report.look()
    run = subprocess.run(
        [sys.argv[1], "-std=gnu11", "-D_GNU_SOURCE", "-Iinclude", "-Wall", "-Wextra",
         "-Werror", "-fsyntax-only", name],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        report.bad(name, f"needs more than -Iinclude:\n{run.stdout}")
report.done("handlers' files")
