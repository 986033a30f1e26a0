"""A room includes only lower rooms, handlers only the public interface, and
MPI is known to one file."""

import os
import re

from house import HEADERS, MPI_FILE, ROOMS, Report, line_of, read, sources, without_comments

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def includes(name):
    text = without_comments(read(name))
    for m in INCLUDE.finditer(text):
        yield f"{name}:{line_of(text, m.start())}", m.group(1), m.group(2)


def check_public(report, where, room, target):
    header = target[len("cairn/"):]
    if header not in HEADERS:
        report.bad(where, f"<{target}> has no level in tests/meta/house.py")
    elif HEADERS[header] > ROOMS[room]:
        report.bad(where, f"{room} (level {ROOMS[room]}) includes <{target}> "
                          f"(level {HEADERS[header]})")


def check_room(report, name):
    room = name.split("/")[1]
    if room not in ROOMS:
        report.bad(name, f"room {room} has no level in tests/meta/house.py")
        return
    for where, quote, target in includes(name):
        report.look()
        first = target.split("/")[0]
        if first == "cairn":
            check_public(report, where, room, target)
        elif quote == '"' and first not in ROOMS:
            report.bad(where, f'"{target}": write the room, as in "base/base.h"')
        elif quote == '"' and first != room and ROOMS[first] >= ROOMS[room]:
            report.bad(where, f'{room} (level {ROOMS[room]}) includes "{target}" '
                              f"(level {ROOMS[first]})")
        if target == "mpi.h" and name != MPI_FILE:
            report.bad(where, f"only {MPI_FILE} includes <mpi.h>")
        if target == "cairn/comm_mpi.h" and name != MPI_FILE:
            report.bad(where, f"only {MPI_FILE} includes <{target}>")


def check_handler(report, name, ours):
    for where, quote, target in includes(name):
        report.look()
        if target.startswith("cairn/"):
            check_public(report, where, "handlers", target)
        elif quote == '"' and target not in ours:
            report.bad(where, f'"{target}": handlers include <cairn/...> only')


def check_header(report, name):
    """A public header includes public ones of its level or lower."""
    header = name[len("include/cairn/"):]
    if header not in HEADERS:
        report.bad(name, "has no level in tests/meta/house.py")
        return
    for where, quote, target in includes(name):
        report.look()
        if quote == '"' and not target.startswith("cairn/"):
            report.bad(where, f'"{target}" is not public')
        elif target.startswith("cairn/"):
            other = HEADERS.get(target[len("cairn/"):], 99)
            if other > HEADERS[header]:
                report.bad(where, f"level {HEADERS[header]} includes <{target}> "
                                  f"(level {other})")


def check_mpi(report, name):
    if name == MPI_FILE:
        return
    for number, line in enumerate(without_comments(read(name)).split("\n"), 1):
        if re.search(r"\bMPI_", line):
            report.bad(f"{name}:{number}", f"only {MPI_FILE} says MPI_")


report = Report()
handlers = sources("handlers")
for source in sources("runtime"):
    check_room(report, source)
    check_mpi(report, source)
for source in handlers:
    check_handler(report, source, {os.path.relpath(n, "handlers") for n in handlers})
    check_mpi(report, source)
for source in sources("include/cairn"):
    check_header(report, source)
report.done("includes")
