"""Rules that any file can break: length, machine paths, notes to self, public
functions without a comment."""

import re

from house import Report, code_only, line_of, read, sources, tracked

LONGEST = 600
TEXT = (".c", ".h", ".inc", ".cc", ".py", ".sh", ".md", ".txt", ".cmake", ".in", ".json",
        ".1", ".3", ".yml", ".f90", ".supp", ".dict")
SCRIPTS = ("tools/", ".ci/", ".gitignore", ".clang-format", "LICENSE")

# A path of somebody's machine, not one on a system as installed.
MACHINE = re.compile(r"(?<![\w.$}>*/])/(?:work|root|home|Users|mnt)/\w")
NOTE = re.compile(r"\b(?:" + "|".join(("TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK")) + r")\b")


def check_text(report, name):
    for number, line in enumerate(read(name).split("\n"), 1):
        m = MACHINE.search(line)
        if m:
            report.bad(f"{name}:{number}", f"a machine's path: {m.group(0)}...")
        m = NOTE.search(line)
        if m:
            report.bad(f"{name}:{number}", f"{m.group(0)}: finish it, or open an issue")


def check_length(report, name):
    lines = read(name).count("\n")
    if lines > LONGEST:
        report.bad(name, f"{lines} lines; more than {LONGEST} hold two ideas")


def check_documented(report, name):
    """Functions in one block share the comment above the first one."""
    text = read(name)
    lines, code = text.split("\n"), code_only(text).split("\n")
    for i, line in enumerate(code):
        if not re.match(r"CAIRN_API\b", line):
            continue
        above = i
        while above > 0 and code[above - 1].strip():
            above -= 1
        end = i
        while ";" not in code[end]:
            end += 1
        commented = "/*" in lines[end] or (above > 0 and "*/" in lines[above - 1])
        if not commented:
            report.bad(f"{name}:{i + 1}", "a public function without a comment above it")


report = Report()
for path in tracked():
    report.look()
    if path.endswith(TEXT) or path.startswith(SCRIPTS):
        check_text(report, path)
    if path.endswith((".c", ".h", ".cc", ".py")):
        check_length(report, path)
for path in sources("include/cairn"):
    check_documented(report, path)
report.done("files")
