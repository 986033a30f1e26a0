"""minimal and minimal_mpi: a job begins at step 0, and at the newest step when
it is started again, also on another number of ranks.

usage: minimal.py PROGRAM [MPIRUN]"""

import subprocess
import sys
import tempfile

program, mpirun = sys.argv[1], sys.argv[2:]


def run(root, ranks):
    launch = mpirun + ["-n", str(ranks)] if mpirun else []
    return subprocess.run(launch + [program, root], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def want(part, out):
    assert part in out, f"{part!r} in {out!r}"


with tempfile.TemporaryDirectory() as root:
    # 1000 times row 1023 of the matrix, or 1000 times number 1 of the vector
    last = "1023][0] = 1.023e+06" if mpirun else "w[1] = 1000"
    first, second = run(root, 4), run(root, 3)
    want("from step 0\n", first)
    want("to step 1000", first)
    want(last, first)
    want("from step 1000\n", second)
    want(last, second)
