"""The language model's promises: what it computes after a resume is what it
would have computed without the interruption.

usage: lm.py MPIRUN LM TEXT SCENARIO

Small models, on any text; a run is 4 ranks, 30 steps, a save every 10."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

mpirun, lm, text, scenario = sys.argv[1:5]
SIZES = ["--hidden", "48", "--embed", "16", "--batch", "10", "--window", "24"]


class Result:
    def __init__(self, done, log):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr
        self.losses = {}
        if os.path.exists(log):
            with open(log, encoding="ascii") as f:
                for line in f:
                    step, loss, _ = line.split()
                    assert int(step) not in self.losses, f"step {step} twice"
                    self.losses[int(step)] = float.fromhex(loss)


def run(root, ranks, *options, steps=30, corpus=text, succeed=True):
    """One launch; its losses by step."""
    log = os.path.join(work, "losses")
    if os.path.exists(log):
        os.remove(log)
    done = subprocess.run(
        [mpirun, "-n", str(ranks), lm, "--corpus", corpus, "--root", root, *SIZES,
         "--steps", str(steps), "--save-every", "10", "--loss-log", log, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    result = Result(done, log)
    if succeed:
        assert result.status == 0, f"status {result.status}\n{done.stdout}\n{done.stderr}"
    else:
        assert result.status != 0, f"succeeded\n{done.stdout}"
    return result


def want(part, whole):
    assert part in whole, f"{part!r} in\n{whole}"


def resumed_at(result):
    found = re.search(r"resumed step (\d+) of .* written by (\d+) ranks", result.out)
    assert found, result.out
    return int(found.group(1)), int(found.group(2))


def steps_of(root):
    return sorted(int(d) for d in os.listdir(root) if d.isdigit())


def same(a, b, first, last):
    for step in range(first, last + 1):
        assert a[step] == b[step], f"step {step}: {a[step].hex()} and {b[step].hex()}"


def close(a, b, first, last, relative=1e-5):
    for step in range(first, last + 1):
        assert abs(a[step] - b[step]) <= relative * abs(b[step]), \
            f"step {step}: {a[step]!r} and {b[step]!r}"


def killed(root, ranks, *options):
    """A run that dies amid its save of step 20, on all ranks."""
    result = run(root, ranks, "--die-at", "20", *options, succeed=False)
    assert sorted(result.losses) == list(range(1, 21)), sorted(result.losses)
    want("save 20 begun", result.out)
    assert steps_of(root) == [10], os.listdir(root)
    assert any(d.startswith("20.") for d in os.listdir(root)), os.listdir(root)
    return result


def resume_is_exact(*options):
    whole = run(place("whole"), 4, *options)
    assert sorted(whole.losses) == list(range(1, 31))
    first = killed(place("cut"), 4, *options)
    same(first.losses, whole.losses, 1, 20)
    second = run(place("cut"), 4, *options)
    assert resumed_at(second) == (10, 4)
    assert sorted(second.losses) == list(range(11, 31))
    same(second.losses, whole.losses, 11, 30)
    assert steps_of(place("cut")) == [10, 20, 30]
    # what the killed save left is gone
    left = [d for d in os.listdir(place("cut")) if not d.isdigit()]
    assert left == [], left


def same_ranks():
    resume_is_exact()


def back_to_back():
    """A save every step, each of which is told of once; the newest are kept."""
    result = run(place("run"), 3, "--save-every", "1", "--keep", "2", steps=12)
    told = re.findall(r"save (\d+) committed", result.out)
    assert told == [str(step) for step in range(1, 13)], told
    assert steps_of(place("run")) == [11, 12], os.listdir(place("run"))


def funneled():
    resume_is_exact("--funneled")


def orbax_profile():
    resume_is_exact("--profile", "orbax")


def orbax_v1_profile():
    resume_is_exact("--profile", "orbax-v1")


def other_ranks():
    whole = run(place("whole"), 4)
    killed(place("cut"), 4)
    for ranks in (1, 2, 3):
        root = place(f"on{ranks}")
        shutil.copytree(place("cut"), root)
        other = run(root, ranks)
        assert resumed_at(other) == (10, 4)
        close(other.losses, whole.losses, 11, 30)
    # and up again, from what 3 ranks wrote
    more = run(place("on3"), 4, steps=50)
    assert resumed_at(more) == (30, 3)
    close(more.losses, run(place("whole"), 4, steps=50).losses, 31, 50)


def texts(result):
    return re.findall(r"rank \d writes: .*", result.out)


def random_streams():
    options = ("--sample-every", "10")
    whole = texts(run(place("whole"), 4, *options))
    assert len(whole) == 12 and len(set(whole)) == 12, whole
    killed(place("cut"), 4, *options)
    again = run(place("cut"), 4, *options)
    want("4 of them go on with their own random stream", again.out)
    assert texts(again) == whole[4:], (texts(again), whole)
    fewer = run(place("cut"), 2, steps=40)
    want("on 2; 2 of them", fewer.out)
    more = run(place("cut"), 3, steps=50)
    want("on 3; 2 of them", more.out)


def refusals():
    root = place("run")
    run(root, 2, steps=10)
    other = os.path.join(work, "other.txt")
    shutil.copy(text, other)
    result = run(root, 2, corpus=other, succeed=False)
    want(f"trained on another text: {os.path.basename(text)}", result.err)
    result = run(root, 2, "--hidden", "40", succeed=False)
    want("hidden", result.err)
    want("48", result.err)
    result = run(place("none"), 2, "--eval", succeed=False)
    want(place("none"), result.err)
    result = run(root, 1, corpus=os.path.join(work, "missing"), succeed=False)
    want("No such file or directory", result.err)
    result = run(root, 2, "--batch", "0", succeed=False)
    assert result.err.count("--batch 0: want a number from 1 to 4096") == 1, result.err
    assert steps_of(root) == [10], os.listdir(root)


def evaluation():
    """The restored model is the saved one, on any number of ranks, and looking
    changes nothing."""
    root = place("run")
    done = run(root, 3).out
    at_end = float(re.search(r"kept back: ([\d.]+)", done).group(1))
    values = set()
    for ranks in (1, 2, 4):
        out = run(root, ranks, "--eval").out
        values.add(re.search(r"^validation (\S+)$", out, re.M).group(1))
    assert len(values) == 1, values
    assert abs(float(values.pop()) - at_end) < 1e-4, at_end
    assert steps_of(root) == [10, 20, 30], os.listdir(root)


def place(name):
    return os.path.join(work, name)


with tempfile.TemporaryDirectory() as work:
    globals()[scenario]()
