"""Checkpoints by stock Orbax of the trees of trees.py, for the tests to compare
with and to restore.

    orbax_make.py OUT                       all of them
    orbax_make.py OUT PORT PROCESS          one of four processes (started by the above)

OUT/one/ is by one process with 8 devices, OUT/four/ by four of two devices
each: <api>/<tree>, with api v0 (zarr 2), v0_zarr3, v1 or standard; and roots of
managers. OUT/done is written last."""

import os
import socket
import subprocess
import sys
import traceback

PROCESSES = 4
OUT = sys.argv[1]
CHILD = sys.argv[2:]
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={2 if CHILD else 8}"


def start_four():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        port = s.getsockname()[1]
    return [subprocess.Popen([sys.executable, __file__, OUT, str(port), str(i)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for i in range(PROCESSES)]


import jax  # noqa: E402  (after the environment is set)
import numpy as np  # noqa: E402

import trees  # noqa: E402

jax.config.update("jax_enable_x64", True)
if CHILD:
    jax.distributed.initialize(f"localhost:{CHILD[0]}", PROCESSES, int(CHILD[1]))

import orbax.checkpoint as v0  # noqa: E402
import orbax.checkpoint.experimental.v1 as v1  # noqa: E402


def for_jax(node):
    """The tree with jax.Arrays for Mesh."""
    if isinstance(node, dict):
        return {k: for_jax(v) for k, v in node.items()}
    if hasattr(node, "_fields"):
        return type(node)(*map(for_jax, node))
    if isinstance(node, (list, tuple)):
        return type(node)(for_jax(v) for v in node)
    if not isinstance(node, trees.Mesh):
        return node
    devices = np.array(jax.devices()).reshape(node.shape)
    sharding = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, node.axes),
                                          jax.sharding.PartitionSpec(*node.spec))
    return jax.make_array_from_callback(node.value.shape, sharding,
                                        lambda index: node.value[index])


def tree(name):
    return for_jax(trees.tree(name))


def save(out, names):
    with v0.PyTreeCheckpointer() as ck:
        for name in names:
            ck.save(f"{out}/v0/{name}", tree(name))
    with v0.Checkpointer(v0.PyTreeCheckpointHandler(use_zarr3=True)) as ck:
        for name in names:
            ck.save(f"{out}/v0_zarr3/{name}", tree(name))
    for name in names:
        if "scalars" not in name:
            v1.save(f"{out}/v1/{name}", tree(name))


def save_steps(out):
    with v0.CheckpointManager(f"{out}/manager", options=v0.CheckpointManagerOptions(
            create=True, enable_async_checkpointing=False)) as m:
        for step in (3, 7, 1200):
            m.save(step, args=v0.args.StandardSave(tree("meshes")))
    with v0.CheckpointManager(f"{out}/items", options=v0.CheckpointManagerOptions(
            create=True, enable_async_checkpointing=False)) as m:
        m.save(5, args=v0.args.Composite(
            state=v0.args.PyTreeSave(tree("state")), params=v0.args.StandardSave(tree("meshes")),
            config=v0.args.JsonSave({"a": [1, 2.5, None], "b": {"é": "x"}})))
    ck = v1.training.Checkpointer(f"{out}/training")
    for step in (0, 10):
        ck.save(step, tree("meshes"))
    ck.close()


def save_one(out):
    save(out, [t for t in trees.TREES if t != "empty_shapes"])  # those it refuses
    with v0.StandardCheckpointer() as ck:
        for name in ("meshes", "single"):  # it takes no text
            ck.save(f"{out}/standard/{name}", tree(name))
    save_steps(out)


if CHILD:
    save(f"{OUT}/four", ["meshes", "state"])
    save_steps(f"{OUT}/four")
    jax.distributed.shutdown()
    os._exit(0)  # Orbax may keep threads that the interpreter waits for

def make():
    children = start_four()
    try:
        save_one(f"{OUT}/one")
        told = [child.communicate()[0].decode() for child in children]
    finally:
        for child in children:
            child.kill()
    for child, text in zip(children, told):
        if child.returncode != 0:
            raise RuntimeError(text)
    with open(f"{OUT}/done", "w", encoding="utf-8") as f:
        f.write("ok\n")


try:
    make()
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)
os._exit(0)
