"""What is left of Orbax's saves after accidents, and what does not fit: Cairn
says what is wrong with a code to act on and the name of the file or leaf, on
every rank alike; and Orbax's own leftovers hinder nobody."""

import glob
import os
import shutil

import pytest

import cairn
import trees

import jax  # isort: skip
import orbax.checkpoint as v0  # isort: skip

jax.config.update("jax_enable_x64", True)


def remove(*names):
    def edit(top):
        for name in names:
            found = glob.glob(f"{top}/{name}")
            assert found, name
            for path in found:
                (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
    return edit


def cut(name, keep):
    """Files of that name to a part of their length."""
    def edit(top):
        for path in glob.glob(f"{top}/{name}"):
            os.truncate(path, int(os.path.getsize(path) * keep))
    return edit


# name: (what Orbax saved, what happened to it, code, parts of the message)
ACCIDENTS = {
    "no_metadata": ("v0/small", remove("_METADATA"), "corrupt", ["no _METADATA"]),
    "not_merged": ("v0/small", remove("manifest.ocdbt", "d"), "corrupt",
                   ["not merged", "manifest.ocdbt"]),
    "index_lost": ("v0/small", remove("d/*"), "corrupt", ["d/", "no such file"]),
    "index_cut": ("v0/small", cut("d/*", 0.7), "corrupt", ["d/"]),
    "manifest_cut": ("v0/small", cut("manifest.ocdbt", 0.5), "corrupt", ["manifest.ocdbt"]),
    "manifest_empty": ("v0/small", cut("manifest.ocdbt", 0), "corrupt", ["manifest.ocdbt"]),
    "data_lost": ("v0/host", remove("ocdbt.process_0/d/*"), "corrupt",
                  ["ocdbt.process_0/d/", "no such file", "array "]),
    "data_cut": ("v0/host", cut("ocdbt.process_0/d/*", 0.1), "corrupt",
                 ["ocdbt.process_0/d/", "array "]),
    "texts_lost": ("v0/small", remove("_strings.json"), "corrupt", ["_strings.json", "leaf s"]),
    "texts_cut": ("v0/small", cut("_strings.json", 0.5), "corrupt", ["_strings.json"]),
    "tree_cut": ("v0/small", cut("_METADATA", 0.3), "corrupt", ["_METADATA", "byte "]),
    "zarr3_index_lost": ("v0_zarr3/small", remove("d/*"), "corrupt", ["d/", "no such file"]),
}


@pytest.fixture
def copy_of(made, tmp_path):
    def copy(what, name):
        to = tmp_path / name
        shutil.copytree(f"{made}/one/{what}", to)
        return to
    return copy


@pytest.mark.parametrize("name", ACCIDENTS)
def test_accident_is_told(tool, copy_of, tmp_path, name):
    what, edit, code, parts = ACCIDENTS[name]
    top = copy_of(what, name)
    edit(top)
    batch = cairn.Batch(tmp_path / "jobs")
    batch.restore(cairn.leaves_of(trees.tree(what.split("/")[1])), path=top, item="")
    told, = batch.run(2, check=False)
    assert told["code"] == code, told
    for part in [name, *parts]:
        assert part in told["message"], told


def test_what_is_not_needed_is_not_missed(tool, copy_of, tmp_path):
    """As by Orbax: private manifests, marks, metadata of arrays and of the step."""
    top = copy_of("v0/meshes", "rest")
    remove("ocdbt.process_0/manifest.ocdbt", "commit_success.txt", "_CHECKPOINT_METADATA",
           "array_metadatas", "_sharding")(top)
    batch = cairn.Batch(tmp_path / "jobs")
    back = batch.restore(cairn.leaves_of(trees.tree("meshes")), path=top, item="")
    batch.run(3)
    assert back.differences() == []


def changed(leaves, name, **how):
    return [leaf if leaf["name"] != name else leaf | how for leaf in leaves]


def without(leaf, *keys):
    return {k: v for k, v in leaf.items() if k not in keys}


MISFITS = {
    "shape": (lambda x: changed(x, "w", shape=[8, 9]), ["w", "[8, 9]", "[8, 8]"]),
    "rank": (lambda x: changed(x, "w", shape=[64]), ["w", "[64]"]),
    "dtype": (lambda x: changed(x, "w", dtype="int32"), ["w", "int32", "float32"]),
    "kind": (lambda x: changed(x, "s", kind="scalar", dtype="int64", shape=[]), ["s", "string"]),
    "lacks": (lambda x: x[:-1], ["w"]),
    "more": (lambda x: x + [x[-1] | {"path": [["dict", "zz"]], "name": "zz"}], ["zz"]),
    "deeper": (lambda x: [leaf | {"path": [["dict", "a"]] + leaf["path"],
                                  "name": "a." + leaf["name"]} for leaf in x], ["a['w']"]),
}


@pytest.mark.parametrize("name", MISFITS)
def test_misfit_is_told(tool, made, tmp_path, name):
    change, parts = MISFITS[name]
    batch = cairn.Batch(tmp_path)
    leaves = change(cairn.leaves_of(trees.tree("small")))
    batch.restore([without(x, "_text") | {"_text": "room"} if x["kind"] == "string" else x
                   for x in leaves], path=f"{made}/one/v0/small", item="")
    told, = batch.run(3, check=False)
    assert told["code"] == "does not match", told
    for part in parts:
        assert part in told["message"], told


def test_text_longer_than_its_room(tool, made, tmp_path):
    batch = cairn.Batch(tmp_path)
    batch.restore(changed(cairn.leaves_of(trees.tree("small")), "s", _text="txt"),
                  path=f"{made}/one/v0/small", item="")
    told, = batch.run(2, check=False)
    assert told["code"] == "does not match" and "s" in told["message"], told


def test_absent_things(tool, made, tmp_path):
    leaves = cairn.leaves_of(trees.tree("meshes"))
    batch = cairn.Batch(tmp_path)
    batch.restore(leaves, path=tmp_path / "nothing", item="")
    batch.restore(leaves, root=tmp_path / "no_root", step=-1)
    batch.restore(leaves, root=f"{made}/one/manager", step=5)
    batch.restore(leaves, path=f"{made}/one/v1/meshes", item="params")
    batch.restore(leaves, path=f"{made}/one/v0/meshes", item="state")
    told = batch.run(2, check=False)
    assert [r["code"] for r in told] == ["not found"] * 5
    for result, part in zip(told, ["nothing", "no_root", "step 5", '"params"', '"state"']):
        assert part in result["message"], result
    assert 'it has "state"' in told[3]["message"]


@pytest.fixture
def root(tmp_path):
    """Step 1 by Orbax, and what a killed save of Orbax left of step 2 and 3."""
    top = tmp_path / "root"
    with v0.CheckpointManager(top) as m:
        m.save(1, args=v0.args.PyTreeSave(trees.tree("small")))
    for step in (2, 3):
        shutil.copytree(top / "1", top / f"{step}.orbax-checkpoint-tmp")
    return top


def test_leftovers_are_no_steps(tool, root, tmp_path):
    batch = cairn.Batch(tmp_path / "jobs")
    batch.steps(root)
    told = batch.run(2)[0]
    assert (told["steps"], told["latest"]) == ([1], 1)
    assert len(os.listdir(root)) == 3  # a reader removes nothing


def test_leftover_does_not_hinder_a_save(tool, root, tmp_path):
    batch = cairn.Batch(tmp_path / "jobs")
    batch.save(trees.tree("small"), root=root, step=2)
    back = batch.restore(cairn.leaves_of(trees.tree("small")), root=root, step=-1)
    assert batch.run(2)[1]["step"] == 2
    assert back.differences() == []
    with v0.CheckpointManager(root) as m:
        assert sorted(m.all_steps()) == [1, 2]
        got = trees.canon(m.restore(2))
        assert trees.differences(got, trees.canon(trees.tree("small"))) == []


def test_step_of_orbax_is_not_overwritten(tool, root, tmp_path):
    batch = cairn.Batch(tmp_path / "jobs")
    batch.save(trees.tree("meshes"), root=root, step=1)
    batch.save(trees.tree("meshes"), path=root / "1", item="")
    told = batch.run(2, check=False)
    assert [r["code"] for r in told] == ["exists already"] * 2
    with v0.CheckpointManager(root) as m:
        got = trees.canon(m.restore(1))
    assert trees.differences(got, trees.canon(trees.tree("small"))) == []
