"""TensorStore, opened directly, reads every array that Cairn writes, and finds
nothing that is no array's."""

import pytest

import cairn
import trees

ts = pytest.importorskip("tensorstore")


@pytest.fixture(scope="module", params=[1, 4], ids=lambda n: f"ranks{n}")
def saved(request, tool, tmp_path_factory):
    batch = cairn.Batch(tmp_path_factory.mktemp("saved"))
    for profile in cairn.PROFILES:
        for name in trees.TREES:
            batch.save(trees.tree(name), path=f"{batch.dir}/{profile}_{name}", item="",
                       profile=profile, host=cairn.varied if profile == "cairn" else cairn.even)
        batch.save(trees.tree("host"), path=f"{batch.dir}/{profile}_plain", item="",
                   profile=profile, no_compression=True)
        batch.save(trees.tree("meshes"), path=f"{batch.dir}/{profile}_chunks", item="",
                   profile=profile, chunk_bytes=100)
    batch.run(request.param)
    return batch.dir


CASES = [(profile, name) for profile in cairn.PROFILES
         for name in [*trees.TREES, "plain", "chunks"]]


@pytest.mark.parametrize("profile,name", CASES)
def test_every_array_is_read(saved, profile, name):
    tree = trees.tree({"plain": "host", "chunks": "meshes"}.get(name, name))
    base = {"driver": "ocdbt", "base": f"file://{saved}/{profile}_{name}/"}
    opened, names = [], []
    for path, leaf in trees.flatten(tree):
        if trees.kind_of(leaf) in ("array", "scalar"):
            names.append(trees.name_of(path))
            where = f"{names[-1]}/" if names[-1] else ""
            opened.append((trees.array_of(leaf), ts.open({
                "driver": "zarr" if profile == "orbax" else "zarr3",
                "kvstore": base | {"path": where}})))
    for i, (want, future) in enumerate(opened):
        got = future.result().read().result()
        assert got.dtype == want.dtype and got.shape == want.shape, names[i]
        assert trees.raw(got) == trees.raw(want), names[i]
    keys = ts.KvStore.open(base).result().list().result()
    assert {of_array(key, profile) for key in keys} == set(names)


def of_array(key, profile):
    """The name of the array that a key belongs to."""
    text = key.decode()
    ends = (".zarray",) if profile == "orbax" else ("zarr.json",)
    for end in ends:
        if text == end or text.endswith("/" + end):
            return text[:-len(end)].removesuffix("/")
    if profile == "orbax":
        return text.rpartition("/")[0]
    parts = text.split("/")
    while parts[-1].isdigit():
        parts.pop()
    assert parts.pop() == "c", key
    return "/".join(parts)
