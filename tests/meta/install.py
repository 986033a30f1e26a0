"""`cmake --install` into an empty prefix, moved elsewhere, serves a C and a C++
project: by find_package, and by pkg-config.

usage: install.py CMAKE BUILD CC CXX"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from house import ROOT, Report

cmake, build, cc, cxx = sys.argv[1:5]
consumer = os.path.join(ROOT, "tests/meta/consumer")
report = Report()


def run(*command, cwd=None, **env):
    done = subprocess.run(command, cwd=cwd, env=os.environ | env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    report.look()
    if done.returncode != 0:
        report.bad(" ".join(command), f"status {done.returncode}\n{done.stdout}")
        report.done("steps")
    return done.stdout


def find(prefix, pattern):
    for folder, _, files in os.walk(prefix):
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), prefix)
            if re.fullmatch(pattern, path):
                return path
    report.bad("install", f"no file {pattern}")
    return ""


def check_files(prefix):
    """What is promised is there, and nothing private is."""
    for pattern in (r"include/cairn/cairn\.h", r"lib.*/libcairn\.so",
                    r"lib.*/libcairn\.so\.\d+", r"lib.*/cairnConfig\.cmake",
                    r"lib.*/cairnConfigVersion\.cmake", r"lib.*/pkgconfig/cairn\.pc",
                    r"share/doc/.*/LICENSE"):
        report.look()
        find(prefix, pattern)
    if os.path.exists(os.path.join(ROOT, "tools/cairn/CMakeLists.txt")):
        run(os.path.join(prefix, find(prefix, r"bin/cairn")), "--version")
        find(prefix, r"share/man/man1/cairn\.1")
    for folder, _, files in os.walk(prefix):
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith((".cmake", ".pc", ".h")):
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                for place in (ROOT, build):
                    if place in text:
                        report.bad(os.path.relpath(path, prefix), f"names {place}")


def by_find_package(prefix, work):
    tree = os.path.join(work, "tree")
    run(cmake, "-S", consumer, "-B", tree, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_CXX_COMPILER={cxx}")
    run(cmake, "--build", tree)
    for program in ("consumer_c", "consumer_cxx"):
        run(os.path.join(tree, program))


def by_pkg_config(prefix, work):
    pc = os.path.join(prefix, find(prefix, r"lib.*/pkgconfig/cairn\.pc"))
    flags = run("pkg-config", "--cflags", "--libs", "cairn",
                PKG_CONFIG_PATH=os.path.dirname(pc)).split()
    library = os.path.dirname(os.path.dirname(pc))
    for compiler, source, standard in ((cc, "consumer.c", "-std=c11"),
                                       (cxx, "consumer.cc", "-std=c++17")):
        program = os.path.join(work, source + ".out")
        run(compiler, standard, "-Wall", "-Wextra", "-Werror",
            os.path.join(consumer, source), "-o", program, *flags,
            f"-Wl,-rpath,{library}")
        run(program)


with tempfile.TemporaryDirectory() as work:
    first = os.path.join(work, "first")
    run(cmake, "--install", build, "--prefix", first)
    prefix = shutil.move(first, os.path.join(work, "moved"))
    check_files(prefix)
    by_find_package(prefix, work)
    by_pkg_config(prefix, work)
report.done("steps")
