"""The language model of examples/lm: Orbax restores the step that the C program
wrote, and its loss computed by NumPy is the C program's; a state saved by Orbax
is resumed by the C program."""

import os
import re
import subprocess

import numpy as np
import pytest

import cairn

import jax  # isort: skip
import orbax.checkpoint as v0  # isort: skip
import orbax.checkpoint.experimental.v1 as v1  # isort: skip

jax.config.update("jax_enable_x64", True)

LM = os.environ.get("CAIRN_LM", "")
TEXT = os.path.join(os.path.dirname(__file__), "..", "..", "LICENSE")
WINDOW = 24
SIZES = ["--hidden", "48", "--embed", "16", "--batch", "10", "--window", str(WINDOW)]
VALIDATION_PART, MAX_VALIDATION = 20, 64  # examples/lm: data.c, train.h
PROFILES = ("cairn", "orbax", "orbax-v1")
STEP = 20


@pytest.fixture(scope="module")
def lm():
    if not os.path.exists(LM):
        pytest.skip("CAIRN_LM names no program")
    return LM


def run(program, root, ranks, *options):
    """What it printed, and its losses by step."""
    log = f"{root}.losses"
    if os.path.exists(log):
        os.remove(log)
    done = subprocess.run(
        [cairn.MPIRUN, "-n", str(ranks), program, "--corpus", TEXT, "--root", str(root), *SIZES,
         "--save-every", "10", "--loss-log", log, *options],
        env=os.environ | cairn.MPI_ENV, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    losses = {}
    if os.path.exists(log):
        with open(log, encoding="ascii") as f:
            losses = {int(s): float.fromhex(x) for s, x, _ in map(str.split, f)}
    return done.stdout, losses


@pytest.fixture(scope="module")
def trained(lm, tmp_path_factory):
    """{profile: root} of runs of 4 ranks that ended at STEP."""
    top = tmp_path_factory.mktemp("lm")
    for profile in PROFILES:
        run(lm, top / profile, 4, "--steps", str(STEP), "--profile", profile)
    return {profile: top / profile for profile in PROFILES}


@pytest.fixture(scope="module")
def uninterrupted(lm, tmp_path_factory):
    """Losses of a run that did not stop."""
    return run(lm, tmp_path_factory.mktemp("whole") / "run", 4, "--steps", str(STEP + 10))[1]


def evaluated(program, root):
    said, _ = run(program, root, 2, "--eval")
    return float(re.search(r"validation (\S+)", said).group(1))


# The model again, in NumPy (examples/lm/model.h) ----------------------------------

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def loss_of(params):
    """Mean of -log p over the validation text, in float64."""
    p = {k: np.asarray(v, np.float64) for k, v in params.items()}
    with open(TEXT, "rb") as f:
        text = np.frombuffer(f.read(), np.uint8)
    begin = len(text) - len(text) // VALIDATION_PART
    n = min((len(text) - begin - 1) // WINDOW, MAX_VALIDATION)
    at = begin + np.arange(n)[:, None] * WINDOW + np.arange(WINDOW + 1)
    text = text[at]
    size = p["hidden"].shape[0]
    h, total = np.zeros((n, size)), 0.0
    for t in range(WINDOW):
        a = p["embedding"][text[:, t]] @ p["input"] + p["bias"]
        g = h @ p["hidden"]
        z, r = (sigmoid(a[:, i:i + size] + g[:, i:i + size]) for i in (0, size))
        c = np.tanh(a[:, 2 * size:] + r * g[:, 2 * size:])
        h = (1 - z) * c + z * h
        score = h @ p["output"] + p["output_bias"]
        score -= score.max(axis=1, keepdims=True)
        log_p = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
        total -= log_p[np.arange(n), text[:, t + 1]].sum()
    return total / (n * WINDOW)


def by_v0(root, profile):
    # v0's manager does not know v1's handlers. What it gives is item "default".
    args = {"args": v0.args.PyTreeRestore()} if profile == "orbax-v1" else {}
    with v0.CheckpointManager(root) as m:
        assert m.latest_step() == STEP
        return m.restore(STEP, **args)


def by_v1(root, _):
    return v1.load_checkpointables(root / str(STEP))["default"]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("restore", [by_v0, by_v1], ids=["v0", "v1"])
def test_numpy_computes_the_loss_of_what_orbax_restores(lm, trained, profile, restore):
    state = restore(trained[profile], profile)
    assert state["step"] == STEP and state["ranks"] == 4
    assert state["corpus"] == os.path.basename(TEXT)
    want = evaluated(lm, trained[profile])
    assert 1 < want < 6  # nats a byte; log(256) is 5.5
    assert abs(loss_of(state["params"]) - want) < 1e-5


def save_by_v0(root, state):
    with v0.CheckpointManager(root) as m:
        m.save(STEP, args=v0.args.PyTreeSave(state))
        m.wait_until_finished()


def save_by_v1(root, state):
    root.mkdir()
    v1.save_checkpointables(root / str(STEP), {"default": state})


@pytest.mark.parametrize("save", [save_by_v0, save_by_v1], ids=["v0", "v1"])
def test_the_program_resumes_what_orbax_saves(lm, trained, uninterrupted, tmp_path, save):
    state = by_v0(trained["cairn"], "cairn")
    for ranks in (4, 2):
        root = tmp_path / f"ranks{ranks}"
        save(root, state)
        said, losses = run(lm, root, ranks, "--steps", str(STEP + 10))
        assert f"resumed step {STEP}" in said
        assert sorted(losses) == list(range(STEP + 1, STEP + 11))
        for step, loss in losses.items():
            if ranks == 4:
                assert loss == uninterrupted[step]
            assert abs(loss - uninterrupted[step]) <= 1e-5 * abs(loss)
