"""Jobs of several launches with mpi_manager.

usage: launches.py SCENARIO PROGRAM MPIRUN...

  round_trip-MODE   saved on 1, 2 and 4 ranks, restored on the same and on others
  levels            the same, shorter, in poll mode at each thread level
  killed, stopped   a rank dies or stops in the middle of a save, under
                    --enable-recovery; the others are told who
  ended             the same without that option: mpirun ends the job
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

scenario, program, mpirun = sys.argv[1], sys.argv[2], sys.argv[3:]
SKIPPED = 77


def launch(ranks, *args, options=()):
    return subprocess.Popen(mpirun + list(options) + ["-n", str(ranks), program] +
                            [str(a) for a in args],
                            text=True, stdout=subprocess.PIPE)


def run(ranks, *args):
    job = launch(ranks, *args)
    out = job.communicate()[0]
    if job.returncode == SKIPPED:
        print(out)
        sys.exit(SKIPPED)
    assert job.returncode == 0, f"{args} on {ranks} ranks: {job.returncode}\n{out}"


def round_trip(mode):
    for writers, readers in (1, (1, 4)), (2, (2, 1)), (4, (4, 2)):
        with tempfile.TemporaryDirectory() as root:
            run(writers, "save", mode, root)
            for n in readers:
                run(n, "restore", mode, root, 3)


def read_lines(job):
    """Lines as they come; a victim that has stopped for longer than the deadline,
    which the others say, is woken."""
    pid, told, lines = None, 0, []
    for line in job.stdout:
        print(line, end="")
        lines.append(line)
        if line.startswith("pid "):
            pid = int(line.split()[1])
        told += line.startswith("told ")
        if pid and told == RANKS - 1 and scenario == "stopped":
            os.kill(pid, signal.SIGCONT)
            pid = None
    return lines


def levels():
    for mode in "single", "funneled", "serialized", "poll":
        with tempfile.TemporaryDirectory() as root:
            run(2, "save", mode, root)
            run(3, "restore", mode, root, 3)


RANKS = 4
# (victim, its store call): the primary and another rank, in the votes of
# different phases
CASES = {"killed": ((0, 9), (3, 3)), "stopped": ((0, 2), (2, 4))}


def fall(victim, call):
    how = "kill" if scenario == "killed" else "stop"
    with tempfile.TemporaryDirectory() as root:
        began = time.monotonic()
        job = launch(RANKS, "fault", "thread", root, victim, call, how,
                     options=["--enable-recovery"])
        lines = read_lines(job)
        job.wait()
        print(f"{how} {victim} in call {call}: {time.monotonic() - began:.1f} s")
        told = {int(m[1]): m[2] for m in
                (re.match(r"told (\d+): (.*)", l) for l in lines) if m}
        others = [r for r in range(RANKS) if r != victim]
        assert set(others) <= set(told), f"not told: {set(others) - set(told)}"
        for r in others:
            assert f"rank {victim} (" in told[r], told[r]
            assert re.search(r"SAVE \((created|written|plan|visible), step 2\)",
                             told[r]), told[r]
        warned = [l for l in lines if l.startswith("warn ") and
                  f"rank {victim} (" in l]
        assert warned, "no warning names the victim"
        if how == "stop":
            assert victim in told and job.returncode == 0, job.returncode
        run(3, "restore", "thread", root, 2 if how == "stop" else 1)


def ended():
    with tempfile.TemporaryDirectory() as root:
        job = launch(RANKS, "fault", "thread", root, 1, 3, "kill")
        out = job.communicate()[0]
        assert job.returncode != 0 and "told" not in out, out
        run(3, "restore", "thread", root, 1)


if scenario.startswith("round_trip-"):
    round_trip(scenario.split("-")[1])
elif scenario == "levels":
    levels()
elif scenario == "ended":
    ended()
else:
    for case in CASES[scenario]:
        fall(*case)
