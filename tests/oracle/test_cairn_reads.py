"""What stock Orbax saves, Cairn restores on any number of ranks, whatever part
each wants: every value bit for bit."""

import os

import pytest

import cairn
import trees

APIS = {"one": ("v0", "v0_zarr3", "v1"), "four": ("v0", "v0_zarr3", "v1")}
RANKS = (1, 2, 3, 4)


def checkpoints(made):
    """(path below made, item, tree) of every checkpoint at a path."""
    for by, apis in APIS.items():
        for api in apis + (("standard",) if by == "one" else ()):
            for name in sorted(os.listdir(f"{made}/{by}/{api}")):
                yield f"{by}/{api}/{name}", "state" if api == "v1" else "", name


def steps(made):
    """(root, step, [(item, tree)]) of every step of a manager."""
    for by in APIS:
        for step in (3, 7, 1200):
            yield f"{by}/manager", step, [("default", "meshes")]
        for step in (0, 10):
            yield f"{by}/training", step, [("state", "meshes")]
        yield f"{by}/items", 5, [("state", "state"), ("params", "meshes")]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("layout", [cairn.varied, cairn.rows], ids=lambda f: f.__name__)
def test_every_value_is_restored(tool, made, tmp_path, ranks, layout):
    batch = cairn.Batch(tmp_path)
    backs = {}
    for path, item, name in checkpoints(made):
        backs[path] = batch.restore(cairn.leaves_of(trees.tree(name)), layout, item=item,
                                    path=f"{made}/{path}")
    for root, step, items in steps(made):
        targets = [(item, cairn.leaves_of(trees.tree(name))) for item, name in items]
        backs[f"{root}/{step}"] = batch.restore_items(targets, layout, root=f"{made}/{root}",
                                                      step=step)
    batch.run(ranks)
    assert len(backs) >= 45
    assert {k: d for k, back in backs.items() if (d := back.differences())} == {}


def test_steps_and_latest(tool, made, tmp_path):
    batch = cairn.Batch(tmp_path)
    for by in APIS:
        for name in ("manager", "training", "items"):
            batch.steps(f"{made}/{by}/{name}")
    told = [(r["steps"], r["latest"]) for r in batch.run(3)]
    assert told == [([3, 7, 1200], 1200), ([0, 10], 10), ([5], 5)] * 2


def test_latest_is_restored(tool, made, tmp_path):
    batch = cairn.Batch(tmp_path)
    back = batch.restore(cairn.leaves_of(trees.tree("meshes")), root=f"{made}/one/manager", step=-1)
    assert batch.run(2)[0]["step"] == 1200
    assert back.differences() == []


def test_json_item(tool, made, tmp_path):
    """v0's file of it; the document comes back as Orbax wrote it."""
    batch = cairn.Batch(tmp_path)
    back = batch.restore_items([("config", "json")], root=f"{made}/one/items", step=5)
    batch.run(3)
    for rank in range(3):
        assert back.blobs(rank) == [b'{"a": [1, 2.5, null], "b": {"\\u00e9": "x"}}']


def test_part_of_a_tree(tool, made, tmp_path):
    """partial: leaves that the target lacks are left alone."""
    some = [leaf for leaf in cairn.leaves_of(trees.tree("meshes"))
            if leaf["name"] in ("rows", "blocks", "zero_d")]
    batch = cairn.Batch(tmp_path)
    back = batch.restore(some, root=f"{made}/four/manager", step=7, partial=True)
    batch.run(3)
    assert back.differences() == []
    batch.restore(some, root=f"{made}/four/manager", step=7)
    with pytest.raises(cairn.Failed) as e:
        batch.run(2)
    assert e.value.code == "does not match" and "noise" in e.value.message
