"""What Cairn saves, stock Orbax restores without being told anything: every
value bit for bit, and what it says of a checkpoint is what it says of its own."""

import pytest

import cairn
import trees

import jax  # isort: skip
import orbax.checkpoint as v0  # isort: skip
import orbax.checkpoint.experimental.v1 as v1  # isort: skip

jax.config.update("jax_enable_x64", True)

CONFIG = b'{"a": [1, 2.5, null], "b": {"\xc3\xa9": "x"}}'
STEPS = (3, 7, 1200)
VARIANTS = [(profile, ranks) for profile in cairn.PROFILES for ranks in (1, 3, 4)]


def host_layout(profile):
    """Orbax's own profiles know equal shards only."""
    return cairn.varied if profile == "cairn" else cairn.even


def add_saves(batch, out, profile):
    how = {"profile": profile, "host": host_layout(profile)}
    for name in trees.TREES:
        batch.save(trees.tree(name), path=f"{out}/bare/{name}", item="", **how)
        batch.save(trees.tree(name), path=f"{out}/named/{name}", item="state", **how)
    for step in STEPS:
        batch.save(trees.tree("meshes"), root=f"{out}/manager", step=step, **how)
        batch.save(trees.tree("meshes"), root=f"{out}/training", step=step, item="state", **how)
    batch.save_items([("state", trees.tree("state")), ("params", trees.tree("meshes")),
                      ("config", "json", [CONFIG])], root=f"{out}/items", step=5, **how)


@pytest.fixture(scope="module")
def saved(tool, tmp_path_factory):
    """{ranks: directory}, with a directory of each profile in it."""
    out = {}
    for ranks in (1, 3, 4):
        out[ranks] = tmp_path_factory.mktemp(f"ranks{ranks}")
        batch = cairn.Batch(out[ranks])
        for profile in cairn.PROFILES:
            for part in ("bare", "named"):
                (out[ranks] / profile / part).mkdir(parents=True)
            add_saves(batch, out[ranks] / profile, profile)
        batch.run(ranks)
    return out


@pytest.fixture(params=VARIANTS, ids=lambda v: f"{v[0]}-{v[1]}")
def where(request, saved):
    profile, ranks = request.param
    return saved[ranks] / profile


def want(name, forms=True):
    return trees.canon(trees.tree(name), forms)


def check(got, name, forms=True):
    assert trees.differences(trees.canon(got, forms), want(name, forms)) == []


def test_v0_restores_every_tree(where):
    with v0.PyTreeCheckpointer() as ck:
        for name in trees.TREES:
            check(ck.restore(where / "bare" / name), name)
            check(ck.restore(where / "named" / name / "state"), name)


def test_v0_standard_restores(where):
    with v0.StandardCheckpointer() as ck:
        for name in trees.TREES:
            if name != "complex_scalars":
                check(ck.restore(where / "bare" / name), name)


def test_v1_loads_every_tree(where):
    for name in trees.TREES:
        check(v1.load(where / "named" / name), name)


def test_v1_loads_a_checkpoint_without_items(where):
    for name in ("state", "meshes", "single"):
        check(v1.load(where / "bare" / name), name)


def test_v1_loads_checkpointables(where):
    got = v1.load_checkpointables(where / "items" / "5")
    assert set(got) == {"state", "params", "config"}
    check(got["state"], "state")
    check(got["params"], "meshes")
    assert got["config"] == {"a": [1, 2.5, None], "b": {"é": "x"}}


def v0_args(where, **args):
    """Of a restore by the v0 manager: none. It does not know v1's handlers, not
    in what v1 writes either, and must be told."""
    return {} if where.name != "orbax_v1" else args


def test_manager_lists_and_restores(where):
    args = v0_args(where, args=v0.args.StandardRestore())
    with v0.CheckpointManager(where / "manager") as m:
        assert sorted(m.all_steps()) == list(STEPS)
        assert m.latest_step() == 1200
        for step in STEPS:
            check(m.restore(step, **args), "meshes")
        check(m.restore(None, **args), "meshes")


def test_manager_restores_items(where):
    args = v0_args(where, args=v0.args.Composite(
        state=v0.args.PyTreeRestore(), params=v0.args.StandardRestore(),
        config=v0.args.JsonRestore()))
    # v1's file of a JSON item has another name.
    handlers = v0_args(where, item_handlers={
        "state": v0.PyTreeCheckpointHandler(), "params": v0.StandardCheckpointHandler(),
        "config": v0.JsonCheckpointHandler("data.json")})
    with v0.CheckpointManager(where / "items", **handlers) as m:
        assert m.latest_step() == 5
        got = m.restore(5, **args)
        assert set(got.keys()) == {"state", "params", "config"}
        check(got.state, "state")
        check(got.params, "meshes")
        assert got.config == {"a": [1, 2.5, None], "b": {"é": "x"}}


def test_training_checkpointer_loads(where):
    ck = v1.training.Checkpointer(where / "training")
    try:
        assert [c.step for c in ck.checkpoints] == list(STEPS)
        assert ck.latest.step == 1200
        for step in STEPS:
            check(ck.load(step), "meshes")
        check(ck.load(), "meshes")
    finally:
        ck.close()


def test_orbax_saves_above_what_cairn_saved(where):
    args = v0_args(where, args=v0.args.StandardRestore())
    with v0.CheckpointManager(where / "manager") as m:
        m.save(1300, args=v0.args.StandardSave({"x": trees.values(1, "int8", (3,))}))
        m.wait_until_finished()
        assert m.latest_step() == 1300
        m.delete(1300)
        check(m.restore(7, **args), "meshes")


def targets():
    """Host arrays and other meshes as jax.Arrays in rows over all devices, or in
    columns, or whole: not how they were saved."""
    mesh = jax.sharding.Mesh(jax.devices(), ("d",))
    out = {}
    for path, leaf in trees.flatten(trees.tree("meshes")):
        shape = trees.array_of(leaf).shape
        spec = [None] * len(shape)
        for i in reversed(range(len(shape))):
            if shape[i] % trees.DEVICES == 0 and "d" not in spec:
                spec[i] = "d"
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))
        out[path[0][1]] = jax.ShapeDtypeStruct(shape, trees.array_of(leaf).dtype, sharding=sharding)
    return out


def test_orbax_restores_onto_other_shardings(where):
    with v0.StandardCheckpointer() as ck:
        got = ck.restore(where / "bare" / "meshes", targets())
    assert {str(x.sharding.spec) for x in got.values()} == \
        {str(x.sharding.spec) for x in targets().values()}
    check(got, "meshes")
    check(v1.load(where / "named" / "meshes", targets()), "meshes")


# What Orbax says of a checkpoint ------------------------------------------------

def described(metadata, storage):
    """{path: what is said of the leaf} of a tree of metadata."""
    out = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(
            metadata, is_leaf=lambda x: x is None or (isinstance(x, (dict, list, tuple)) and not x))[0]:
        said = [type(leaf).__name__]
        for member in ("shape", "dtype", "sharding"):
            said.append(str(getattr(leaf, member, None)))
        if storage and getattr(leaf, "storage", None) is not None:
            said.append(str((leaf.storage.chunk_shape, leaf.storage.write_shape)))
        out[jax.tree_util.keystr(path)] = said
    return out


def same_storage(where, name="meshes"):
    """Chunks are Orbax's choice in its profiles; host arrays in parts are none
    of Orbax's ideas."""
    return where.name != "cairn" and (name == "meshes" or where.parent.name.startswith("ranks1"))


def test_v0_metadata_is_as_of_its_own(where, made):
    own = "v0" if where.name == "orbax" else "v0_zarr3"
    with v0.PyTreeCheckpointer() as ck:
        for name in ("meshes", "state", "host", "single"):
            ours = ck.metadata(where / "bare" / name)
            theirs = ck.metadata(f"{made}/one/{own}/{name}")
            storage = same_storage(where, name)
            assert described(ours.item_metadata.tree, storage) == \
                described(theirs.item_metadata.tree, storage), name


def managers(where, made, name, **more):
    return [v0.CheckpointManager(root, **more) for root in (where / name, f"{made}/one/{name}")]


def test_manager_item_metadata_is_as_of_its_own(where, made):
    ours, theirs = managers(where, made, "manager", item_handlers=v0.StandardCheckpointHandler())
    assert described(ours.item_metadata(7).tree, same_storage(where)) == \
        described(theirs.item_metadata(7).tree, same_storage(where))
    assert set(ours.metadata(7).item_handlers) == set(theirs.metadata(7).item_handlers)
    if where.name != "orbax_v1":
        assert ours.metadata(7).item_handlers == theirs.metadata(7).item_handlers
    handlers = {"state": v0.PyTreeCheckpointHandler(), "params": v0.StandardCheckpointHandler(),
                "config": v0.JsonCheckpointHandler()}
    ours, theirs = managers(where, made, "items", item_handlers=handlers)
    mine, own = ours.item_metadata(5), theirs.item_metadata(5)
    assert set(mine.keys()) == set(own.keys())
    for item in ("params", "state"):
        assert described(mine[item].tree, False) == described(own[item].tree, False)


def test_v1_metadata_is_as_of_its_own(where, made):
    for name in ("meshes", "single"):
        ours, theirs = v1.metadata(where / "named" / name), v1.metadata(f"{made}/one/v1/{name}")
        assert described(ours.metadata, False) == described(theirs.metadata, False), name
        assert ours.custom_metadata == theirs.custom_metadata
    ours = v1.checkpointables_metadata(where / "items" / "5").metadata
    assert set(ours) == {"state", "params", "config"}


def test_orbax_takes_them_for_checkpoints(where):
    assert v1.is_orbax_checkpoint(where / "named" / "state")
    assert v1.is_orbax_checkpoint(where / "manager" / "7")
