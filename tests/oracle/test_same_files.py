"""In the profiles `orbax` and `orbax_v1` the files beside the arrays, the arrays'
metadata and the databases' keys are those that Orbax writes for the same tree,
byte for byte; of its own, Cairn adds cairn.json."""

import json
import os
import re

import pytest

import cairn
import trees

ts = pytest.importorskip("tensorstore")

# What is different each time: node and data files, time stamps. Manifests hold
# a random id and the position of a root node.
RANDOM = re.compile(r"(^|/)d/[0-9a-f]{32}$|(^|/)manifest\.ocdbt$")
# The tree handler writes one string, whichever of v0's two tree items it was.
PYTREE = b"pytree_checkpoint_handler.PyTreeCheckpointHandler"
STANDARD = b"standard_checkpoint_handler.StandardCheckpointHandler"
STAMPS = re.compile(rb'("(?:init|commit)_timestamp_nsecs": )(\d+|null)')
OURS = {"cairn.json"}
FOUR = ("meshes", "state")  # what four processes save (orbax_make.py)


def cases():
    """(processes, profile, api, tree)"""
    for processes, names in ((1, [t for t in trees.TREES if t != "empty_shapes"]), (4, FOUR)):
        for name in names:
            yield processes, "orbax", "v0", name
            if "scalars" not in name:
                yield processes, "orbax_v1", "v1", name


@pytest.fixture(scope="module")
def pairs(tool, made, tmp_path_factory):
    """{case: (ours, Orbax's)}; ranks are processes, and hold their devices."""
    out = {}
    for processes in (1, 4):
        batch = cairn.Batch(tmp_path_factory.mktemp(f"same{processes}"))
        ids = cairn.device_ids(processes)
        own = f"{made}/{'one' if processes == 1 else 'four'}"
        for case in cases():
            if case[0] == processes:
                path = f"{batch.dir}/{case[1]}_{case[3]}"
                batch.save(trees.tree(case[3]), path=path, profile=case[1], ids=ids,
                           item="state" if case[1] == "orbax_v1" else "")
                out[case] = path, f"{own}/{case[2]}/{case[3]}"
        how = {"profile": "orbax", "ids": ids}
        for step in (3, 7, 1200):
            batch.save(trees.tree("meshes"), root=f"{batch.dir}/manager", step=step, **how)
        out[processes, "orbax", "manager"] = f"{batch.dir}/manager", f"{own}/manager"
        how["profile"] = "orbax_v1"
        for step in (0, 10):
            batch.save(trees.tree("meshes"), root=f"{batch.dir}/training", step=step, item="state",
                       **how)
        out[processes, "orbax_v1", "training"] = f"{batch.dir}/training", f"{own}/training"
        batch.run(processes)
    return out


CASES = list(cases()) + [(p, *root) for p in (1, 4)
                         for root in (("orbax", "manager"), ("orbax_v1", "training"))]


@pytest.fixture(params=CASES, ids=lambda c: "-".join(map(str, c)))
def pair(request, pairs):
    return pairs[request.param]


def files(top):
    """{path: bytes, time stamps taken out}, without what is random."""
    out = {}
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.relpath(os.path.join(directory, name), top)
            if not RANDOM.search(path) and name not in OURS:
                with open(os.path.join(top, path), "rb") as f:
                    data = f.read().replace(PYTREE, STANDARD)
                out[path] = STAMPS.sub(rb"\1T", data)
    return out


def mentions_itself(path):
    """commit_success.txt says where it was written."""
    return path.endswith("commit_success.txt")


def test_side_files(pair):
    ours, own = map(files, pair)
    assert sorted(set(ours) ^ set(own)) == []
    for path, data in own.items():
        if mentions_itself(path):
            assert ours[path].count(b"\n") == data.count(b"\n")
        else:
            assert ours[path] == data, path


def databases(top):
    """{directory: {key: value}} of every OCDBT database, data as TensorStore
    reads it."""
    out = {}
    for directory, _, names in os.walk(top):
        if "manifest.ocdbt" in names:
            kv = ts.KvStore.open({"driver": "ocdbt", "base": f"file://{directory}/"}).result()
            keys = kv.list().result()
            values = [kv.read(k) for k in keys]
            out[os.path.relpath(directory, top)] = {
                k: v.result().value for k, v in zip(keys, values)}
    return out


def is_metadata(key):
    return key.endswith((b".zarray", b"zarr.json"))


def test_keys_and_array_metadata(pair):
    ours, own = map(databases, pair)
    assert sorted(set(ours) ^ set(own)) == []
    for name, theirs in own.items():
        assert sorted(set(ours[name]) ^ set(theirs)) == [], name
        for key, value in theirs.items():
            if is_metadata(key):
                assert ours[name][key] == value, (name, key)


def test_profile_cairn_has_the_same_tree_files(tool, made, tmp_path):
    """What does not speak of chunks is the same there."""
    batch = cairn.Batch(tmp_path)
    for name in ("state", "host"):
        batch.save(trees.tree(name), path=f"{tmp_path}/{name}", item="")
    batch.run(1)
    for name in ("state", "host"):
        ours, own = files(tmp_path / name), files(f"{made}/one/v0_zarr3/{name}")
        assert set(ours) == set(own)
        for path in ("_sharding", "_strings.json"):
            assert ours.get(path) == own.get(path)
        mine, theirs = (json.loads(f["_METADATA"]) for f in (ours, own))
        assert without_shapes(mine) == without_shapes(theirs)


def without_shapes(metadata):
    for entry in metadata["tree_metadata"].values():
        entry["value_metadata"].pop("write_shape", None)
    return metadata
