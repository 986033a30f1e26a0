"""The README's C compiles without warnings, its first block is a job that saves,
ends, and goes on from its newest step when it is started again, and what it and
docs/ link to is there.

usage: readme.py LIBRARY CC [--mpi]"""

import os
import re
import subprocess
import sys
import tempfile

from house import ROOT, Report, read, tracked

library, cc = sys.argv[1:3]
mpi = "--mpi" in sys.argv

# What the first block takes as given. A rank trains by adding 1 to its numbers,
# so w says how often that was done. Without MPI its three names stand for less.
BEFORE = """#include <cairn/cairn.h>
%s
#include <stdio.h>
#include <stdlib.h>

static cairn_runtime_t *rt;
static cairn_comm_t *comm;
static cairn_manager_t *mgr;
static cairn_tree_t *state;
static cairn_code_t rc;
static int64_t step, n, rows = 8;
static int rank, ranks = 1;
static float w[8 * 1024];

static void train(void) {
  for (int i = 0; i < 8 * 1024; i++) w[i] += 1;
}
"""
WITH_MPI = "#include <cairn/comm_mpi.h>"
ALONE = """#define cairn_comm_mpi_open(rt, world, out, err) \\
  cairn_comm_self_open(rt, out, err)
#define MPI_Init_thread(argc, argv, want, got) ((void)(argc), (void)(argv))
#define MPI_Finalize() ((void)0)"""
MAIN = """
int main(int argc, char **argv) {
  int level;
  n = strtoll(argv[1], NULL, 10);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  %s
  printf("step %%lld, w %%g\\n", (long long)step, (double)w[8191]);
  return err.code;
}
"""
FUNCTION = """
void block_%d(cairn_error_t err);
void block_%d(cairn_error_t err) {
  %s
}
"""

report = Report()
blocks = re.findall(r"^```c\n(.*?)^```", read("README.md"), re.M | re.S)
report.look(len(blocks))


def source():
    text = BEFORE % (WITH_MPI if mpi else ALONE)
    for i, block in enumerate(blocks[1:], 2):
        text += FUNCTION % (i, i, block)
    return text + (MAIN if mpi else MAIN.replace("  int level;\n", "")) % blocks[0]


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        report.bad("README.md", f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")
        report.done("blocks and links")
    return done.stdout


for name in [n for n in tracked() if n == "README.md" or n.startswith("docs/")]:
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", read(name)):
        report.look()
        if not os.path.exists(os.path.join(ROOT, os.path.dirname(name), link)):
            report.bad(name, f"links to {link}, which is not there")

with tempfile.TemporaryDirectory() as work:
    path, program = os.path.join(work, "readme.c"), os.path.join(work, "readme")
    with open(path, "w", encoding="utf-8") as f:
        f.write(source())
    folder = os.path.dirname(library)
    run(cc, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
        "-I", os.path.join(ROOT, "include"), path, "-o", program, library,
        f"-Wl,-rpath,{folder}")
    # Saved at 100 and 200, then on from there: 200 + 150, each step trained once.
    for last in ("250", "350"):
        out = run(program, last, cwd=work)
        if f"step {last}, w {last}\n" not in out:
            report.bad("README.md", f"the job to step {last} said {out!r}")
    if sorted(os.listdir(os.path.join(work, "runs/a"))) != ["100", "200", "300"]:
        report.bad("README.md", f"runs/a holds {os.listdir(os.path.join(work, 'runs/a'))}")
report.done("blocks and links")
