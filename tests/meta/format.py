"""Every C file is as .clang-format has it (tools/format puts it so).

usage: format.py [CLANG_FORMAT]"""

import os
import re
import subprocess
import sys

from house import ROOT, Report, skip, sources

MAJOR = 14  # other versions break lines elsewhere

tool = sys.argv[1] if len(sys.argv) > 1 else "clang-format"
try:
    version = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True).stdout
except OSError:
    skip(f"{tool} is not installed")
found = re.search(r"version (\d+)", version)
if not found or int(found.group(1)) != MAJOR:
    skip(f"needs clang-format {MAJOR}; this is: {version.strip()}")

report = Report()
files = sources("include", "runtime", "handlers", "tools", "tests", "examples",
                ends=(".c", ".h", ".cc"))
report.look(len(files))
run = subprocess.run([tool, "--style=file", "--dry-run", "-Werror"] + files, cwd=ROOT,
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
for name in sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: error:", run.stdout, re.M))):
    report.bad(os.path.relpath(os.path.join(ROOT, name), ROOT),
               "is not formatted; run tools/format")
if run.returncode != 0 and not report.found:
    report.bad(tool, run.stdout)
report.done("files")
