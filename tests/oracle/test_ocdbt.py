"""OCDBT against TensorStore: each reads what the other wrote.

Needs tensorstore, and ocdbt_tool below CAIRN_BUILD_DIR (the CMake build
directory).
"""

import os
import random
import subprocess

import pytest

ts = pytest.importorskip("tensorstore")


def tool_path():
    build = os.environ.get("CAIRN_BUILD_DIR")
    if not build:
        pytest.skip("CAIRN_BUILD_DIR is not set")
    path = os.path.join(build, "tests", "oracle", "ocdbt_tool")
    if not os.path.exists(path):
        pytest.skip(f"{path} is not built")
    return path


def run(*args, stdin=""):
    done = subprocess.run([tool_path(), *map(str, args)], input=stdin,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def to_hex(b):
    return b.hex() or "-"


def from_hex(s):
    return b"" if s == "-" else bytes.fromhex(s)


def ours(path):
    """What ocdbt_tool reads."""
    run("check", path)
    pairs = [line.split() for line in run("cat", path).splitlines()]
    keys = [from_hex(k) for k, _ in pairs]
    assert keys == sorted(keys)
    return {from_hex(k): from_hex(v) for k, v in pairs}


def open_theirs(path, config=None, **more):
    spec = {"driver": "ocdbt",
            "base": {"driver": "file", "path": f"{path}/"}, **more}
    if config is not None:
        spec["config"] = config
    return ts.KvStore.open(spec).result()


def theirs(path):
    """What TensorStore reads."""
    store = open_theirs(path)
    return {k: store.read(k).result().value for k in store.list().result()}


def make_data(n, seed=0):
    """Keys as in checkpoints, a few odd ones, values of all classes of size."""
    r = random.Random(seed)
    data = {}
    for i in range(n):
        leaf = r.choice(["kernel", "bias", "mu", "nu"])
        key = f"params/layer_{i // 7}/{leaf}/{r.choice(['.zarray', 'c/0', '0.0'])}"
        size = r.choice([0, 1, 20, 99, 100, 101, 1024, 1025, 3000])
        data[key.encode()] = r.randbytes(size)
    data[b"\xff\xfe binary \x01"] = b"odd key"
    data[b""] = b"the empty key"
    data[b"big"] = r.randbytes(700_000)
    return data


def pairs(data, child=None):
    items = list(data.items())
    random.Random(1).shuffle(items)
    head = f"{child} " if child else ""
    return "".join(f"{head}{to_hex(k)} {to_hex(v)}\n" for k, v in items)


OPTIONS = [
    [],
    ["zstd=0"],
    ["zstd=19", "inline=100"],
    ["node=1"],
    ["node=300", "zstd=0"],
    ["node=4096", "inline=0"],
    ["node=0", "inline=1048576"],
    ["target=5000", "node=2000"],
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(o) or "plain")
def test_tensorstore_reads_ours(tmp_path, options):
    data = make_data(400)
    run("create", tmp_path, *options, stdin=pairs(data))
    assert theirs(tmp_path) == data
    assert ours(tmp_path) == data


def test_tensorstore_reads_our_empty_database(tmp_path):
    run("create", tmp_path)
    assert theirs(tmp_path) == {}
    assert ours(tmp_path) == {}


def test_tensorstore_goes_on_writing_in_ours(tmp_path):
    """Its commits rewrite our nodes, with our config."""
    data = make_data(200)
    run("create", tmp_path, "node=600", "zstd=0", stdin=pairs(data))
    store = open_theirs(tmp_path)
    more = make_data(100, seed=5)
    for k, v in more.items():
        store.write(k, v).result()
    store.delete_range(ts.KvStore.KeyRange(b"params/layer_1/", b"params/layer_10")).result()
    want = {k: v for k, v in {**data, **more}.items()
            if not b"params/layer_1/" <= k < b"params/layer_10"}
    assert theirs(tmp_path) == want
    assert ours(tmp_path) == want


def test_tensorstore_reads_a_merge(tmp_path):
    parts = [make_data(150, seed=s) for s in range(4)]
    merged, text = {}, ""
    for i, part in enumerate(parts):
        part = {f"{i}/".encode() + k: v for k, v in part.items()}
        merged.update(part)
        text += pairs(part, child=f"ocdbt.process_{i}/")
    run("merge", tmp_path, "node=3000", "zstd=0", stdin=text)
    assert theirs(tmp_path) == merged
    assert ours(tmp_path) == merged


CONFIGS = [
    {"compression": None},
    {"max_decoded_node_bytes": 1, "version_tree_arity_log2": 1},
    {"max_decoded_node_bytes": 500, "max_inline_value_bytes": 10},
    {"compression": {"id": "zstd", "level": 10}},
    {"manifest_kind": "numbered", "version_tree_arity_log2": 1},
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: ",".join(c))
def test_we_read_tensorstore(tmp_path, config):
    data = make_data(60)
    store = open_theirs(tmp_path, config)
    for k, v in data.items():
        store.write(k, v).result()
    assert ours(tmp_path) == data
    for k in list(data)[::2]:
        store.write(k, None).result()
        del data[k]
    assert ours(tmp_path) == data


def test_we_read_one_transaction_of_tensorstore(tmp_path):
    data = make_data(3000)
    store = open_theirs(tmp_path, {"max_decoded_node_bytes": 2000})
    with ts.Transaction(atomic=True) as txn:
        t = store.with_transaction(txn)
        for k, v in data.items():
            t[k] = v
    assert ours(tmp_path) == data
