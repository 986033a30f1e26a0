"""The library prints nothing, ends no process, installs no signal handler or
exit handler, and reads the environment where options are. Asked of the object files,
so a macro or an optimised call does not slip through.

usage: library_calls.py NM ARCHIVE..."""

import re
import subprocess
import sys

from house import Report, code_only, line_of, read, sources

FORBIDDEN = {
    "printf", "fprintf", "vprintf", "vfprintf", "dprintf", "vdprintf", "puts", "fputs",
    "putchar", "putc", "fputc", "perror", "psignal", "stdout", "stderr", "stdin",
    "exit", "_exit", "_Exit", "quick_exit", "abort", "raise", "atexit",
    "on_exit", "signal", "sigaction", "system", "popen", "fork", "vfork", "setenv",
    "putenv", "unsetenv", "chdir", "umask", "uv_default_loop", "uv_queue_work",
}
# CAIRN_* variables, beside the options that they override.
ENVIRONMENT_FILES = ("runtime/loop/options.c", "runtime/checkpoint/options.c",
                     "runtime/manager/options.c")
ENVIRONMENT = re.compile(r"\b(secure_)?getenv\s*\(|\benviron\b")

nm, archives = sys.argv[1], sys.argv[2:]
report = Report()
for archive in archives:
    out = subprocess.run([nm, "-A", "-u", archive], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    for line in out.splitlines():
        if " U " not in line:
            continue
        report.look()
        where, symbol = line.rsplit(" U ", 1)
        # With _FORTIFY_SOURCE printf is __printf_chk.
        name = re.sub(r"^__(\w+)_chk$", r"\1", symbol.split("@")[0].strip())
        if name in FORBIDDEN:
            report.bad(where.strip().split(":")[1], f"calls {name}")
for name in sources("runtime", "handlers"):
    text = code_only(read(name))
    for m in ENVIRONMENT.finditer(text):
        if name not in ENVIRONMENT_FILES:
            report.bad(f"{name}:{line_of(text, m.start())}",
                       f"the environment is read in {' and '.join(ENVIRONMENT_FILES)}")
report.done("calls out of the library")
