"""libcairn exports exactly what the public headers declare with CAIRN_API, and
needs no symbol of its own that is defined nowhere.

usage: exports.py NM LIBCAIRN [--mpi]"""

import re
import subprocess
import sys

from house import Report, code_only, line_of, read, sources

DECLARED = re.compile(r"\bCAIRN_API\b(?P<type>[^;{(]*?)\b(?P<name>\w+)\s*(?:\(|\[|;)")


def declared(with_mpi):
    names = {}
    for header in sources("include/cairn"):
        if header.endswith("comm_mpi.h") and not with_mpi:
            continue
        # The lines that define CAIRN_API itself are not declarations.
        text = re.sub(r"^[ \t]*#.*$", "", code_only(read(header)), flags=re.M)
        for m in DECLARED.finditer(text):
            names[m.group("name")] = f"{header}:{line_of(text, m.start())}"
    return names


def symbols(nm, library, which):
    out = subprocess.run([nm, "-D", "-P", which, library], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return {line.split()[0].split("@")[0] for line in out.splitlines() if line}


nm, library = sys.argv[1:3]
report = Report()
api = declared("--mpi" in sys.argv)
exported = symbols(nm, library, "--defined-only")
report.look(len(api | dict.fromkeys(exported)))
for name in sorted(set(api) - exported):
    report.bad(api[name], f"{name} is declared CAIRN_API and defined nowhere")
for name in sorted(exported - set(api)):
    report.bad(library, f"{name} is exported and not declared in a public header")
for name in sorted(symbols(nm, library, "--undefined-only")):
    if name.startswith("cairn_"):
        report.bad(library, f"{name} is called and defined nowhere")
report.done("symbols")
