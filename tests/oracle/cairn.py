"""Cairn as the tests drive it: jobs for oracle_tool, done in one launch.

    batch = Batch(tmp_path)
    batch.save(tree, root=root, step=3, profile="orbax")
    back = batch.restore(leaves_of(tree), root=root, step=3)
    batch.run(4)          # mpirun -n 4; every job must go well
    assert not back.differences()
"""

import hashlib
import json
import os
import subprocess
import zlib

import numpy as np

import trees

TOOL = os.environ.get("CAIRN_ORACLE_TOOL", "")
MPIRUN = os.environ.get("CAIRN_MPIRUN", "mpirun")
PROFILES = ("cairn", "orbax", "orbax_v1")

# As root, on fewer cores than ranks, and where a process may not read another's
# memory.
MPI_ENV = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


# Leaves --------------------------------------------------------------------------

def leaves_of(tree):
    """Leaves of a document of oracle_tool, without data and boxes; under keys
    that begin with _ what the tests know of them."""
    return [_leaf(path, leaf) for path, leaf in trees.flatten(tree)]


def _leaf(path, leaf):
    kind = trees.kind_of(leaf)
    out = {"path": [list(p) for p in path], "name": trees.name_of(path), "kind": kind}
    if kind in ("array", "scalar"):
        a = trees.array_of(leaf)
        out.update(dtype=a.dtype.name, shape=list(a.shape), _raw=np.ascontiguousarray(a).tobytes())
    if kind == "string":
        out["_text"] = leaf
    if isinstance(leaf, trees.Mesh):
        out["_mesh"] = leaf
    return out


def split(n, parts):
    """[(origin, extent)] of n in parts that differ by one at most."""
    ends = [n * i // parts for i in range(parts + 1)]
    return [(a, b - a) for a, b in zip(ends, ends[1:])]


def _whole(shape):
    return [[0] * len(shape), list(shape)]


def _axis(shape, axis, ranks):
    boxes = []
    for origin, extent in split(shape[axis], ranks):
        box = _whole(shape)
        box[0][axis], box[1][axis] = origin, extent
        boxes.append([box] if extent else [])
    return boxes


def _blocks(shape, ranks):
    """The first two axes in a grid of 2 by ranks / 2."""
    boxes = []
    for a in split(shape[0], 2):
        for b in split(shape[1], ranks // 2):
            box = _whole(shape)
            box[0][:2], box[1][:2] = (a[0], b[0]), (a[1], b[1])
            boxes.append([box] if a[1] and b[1] else [])
    return boxes


def _interleaved(shape, ranks):
    """Row i on rank i modulo ranks: many boxes a rank."""
    boxes = [[] for _ in range(ranks)]
    for i in range(shape[0]):
        box = _whole(shape)
        box[0][0], box[1][0] = i, 1
        boxes[i % ranks].append(box)
    return boxes


# A layout takes a leaf and the number of ranks; None: every rank holds all.

def whole(leaf, ranks):
    return None


def rows(leaf, ranks):
    return _axis(leaf["shape"], 0, ranks) if leaf["shape"] else None


def columns(leaf, ranks):
    return _axis(leaf["shape"], -1, ranks) if leaf["shape"] else None


def even(leaf, ranks):
    """Rows if the ranks get equally many."""
    shape = leaf["shape"]
    return rows(leaf, ranks) if shape and shape[0] % ranks == 0 else None


def one(leaf, ranks):
    chosen = zlib.crc32(leaf["name"].encode()) % ranks
    return [[_whole(leaf["shape"])] if r == chosen else [] for r in range(ranks)]


def varied(leaf, ranks):
    """A layout that depends on the leaf's name."""
    shape, way = leaf["shape"], zlib.crc32(leaf["name"].encode()) % 6
    if way == 1 and shape:
        return rows(leaf, ranks)
    if way == 2 and shape:
        return columns(leaf, ranks)
    if way == 3 and len(shape) > 1 and ranks % 2 == 0:
        return _blocks(shape, ranks)
    if way == 4 and shape and shape[0] < 100:
        return _interleaved(shape, ranks)
    return one(leaf, ranks) if way == 5 else whole(leaf, ranks)


def devices(leaf, ranks):
    """The devices of a mesh, dealt to the ranks in order."""
    boxes = [[] for _ in range(ranks)]
    for d in range(trees.DEVICES):
        boxes[d * ranks // trees.DEVICES].append(list(leaf["_mesh"].box(d)))
    return boxes


def device_ids(processes):
    """As JAX numbers the devices of CPU processes."""
    local = trees.DEVICES // processes
    return [2048 * (d // local) + d % local for d in range(trees.DEVICES)]


# Jobs ----------------------------------------------------------------------------

class Failed(Exception):
    """A job that went wrong: .code and .message as Cairn told them."""

    def __init__(self, job, result):
        super().__init__(f"{job['op']}: {result['code']}: {result['message']}")
        self.code, self.message = result["code"], result["message"]


class Batch:
    def __init__(self, directory):
        self.dir = str(directory)
        os.makedirs(self.dir, exist_ok=True)
        self.jobs, self.pending = [], []

    def _add(self, job, **where):
        self.jobs.append(job | {k: str(v) if k in ("root", "path") else v
                                for k, v in where.items()})

    def save(self, tree, host=whole, mesh=devices, item="default", ids=None, **where):
        """One tree item; host and mesh: layouts of arrays without and with a
        mesh. ids: of devices, those of one process if None."""
        self.save_items([(item, tree)], host=host, mesh=mesh, ids=ids, **where)

    def save_items(self, items, host=whole, mesh=devices, ids=None, **where):
        """items: (name, tree) or (name, type, [bytes of each rank])."""
        self.pending.append(("save", items, host, mesh, ids, len(self.jobs)))
        self._add({"op": "save"}, **where)

    def restore(self, leaves, layout=varied, item="default", **where):
        back = Restored(f"{self.dir}/back{len(self.jobs)}", [(item, leaves)], layout)
        return self._restore(back, where)

    def restore_items(self, items, layout=varied, **where):
        """items: (name, leaves) or (name, type)."""
        back = Restored(f"{self.dir}/back{len(self.jobs)}", items, layout)
        return self._restore(back, where)

    def _restore(self, back, where):
        self.pending.append(("restore", back, len(self.jobs)))
        self._add({"op": "restore", "out": back.out}, **where)
        return back

    def steps(self, root, **more):
        self._add({"op": "steps"}, root=root, **more)

    def flips(self, leaves, file, start, end, **where):
        """Of a checkpointer's path; one rank."""
        self.pending.append(("restore", Restored("", [("", leaves)], whole), len(self.jobs)))
        self._add({"op": "flips", "file": str(file), "from": start, "to": end}, **where)

    def run(self, ranks, check=True):
        """Returns what was said of each job; with check, raises Failed for the
        first that went wrong."""
        for kind, *rest, at in self.pending:
            if kind == "save":
                self._describe_save(self.jobs[at], at, ranks, *rest)
            else:
                self.jobs[at]["items"] = rest[0].describe(ranks)
        results = launch(self.jobs, ranks, self.dir)
        jobs, self.jobs, self.pending = self.jobs, [], []
        for job, result in zip(jobs, results):
            assert result["agreed"], f"ranks were told different things: {result}"
            if check and result["code"] != "ok":
                raise Failed(job, result)
        return results

    def _describe_save(self, job, at, ranks, items, host, mesh, ids):
        job["data"] = f"{self.dir}/data{at}"
        job["items"] = []
        with open(job["data"], "wb") as f:
            for name, *what in items:
                if len(what) == 2:
                    places = []
                    for blob in what[1]:
                        places.append([f.tell(), len(blob)])
                        f.write(blob)
                    job["items"].append({"name": name, "type": what[0], "blobs": places})
                else:
                    leaves = [_save_leaf(leaf, f, ranks, host, mesh, ids)
                              for leaf in leaves_of(what[0])]
                    job["items"].append({"name": name, "type": "tree", "leaves": leaves})


def _save_leaf(leaf, file, ranks, host, mesh, ids):
    out = {k: v for k, v in leaf.items() if k[0] != "_"}
    if "_text" in leaf:
        out["text"] = leaf["_text"]
    if "_raw" in leaf:
        out["at"] = file.tell()
        file.write(leaf["_raw"])
    if leaf["kind"] == "array":
        boxes = (mesh if "_mesh" in leaf else host)(leaf, ranks)
        if boxes is not None:
            out["boxes"] = boxes
        out["strided"] = zlib.crc32(b"s" + leaf["name"].encode()) % 2 == 0
        out["borrow"] = zlib.crc32(b"b" + leaf["name"].encode()) % 2 == 0
    if "_mesh" in leaf:
        m = leaf["_mesh"]
        out["sharding"] = {
            "mesh_shape": list(m.shape), "axis_names": list(m.axes),
            "device_ids": ids or device_ids(1),
            "spec": [",".join(e) if isinstance(e, tuple) else e for e in m.spec]}
    return out


def launch(jobs, ranks, directory):
    document = f"{directory}/jobs.json"
    with open(document, "w", encoding="utf-8") as f:
        json.dump(jobs, f)
    command = [TOOL, document]
    if ranks > 1:
        command = [MPIRUN, "-n", str(ranks)] + command
    done = subprocess.run(command, env=os.environ | MPI_ENV, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, check=False)
    lines = [json.loads(x) for x in done.stdout.decode().splitlines()]
    told = done.stderr.decode(errors="replace")
    assert done.returncode == 0 and len(lines) == len(jobs), \
        f"exit status {done.returncode}, {len(lines)} of {len(jobs)} jobs\n{told}"
    return lines


# What came back ------------------------------------------------------------------

class Restored:
    """Where a restore leaves what each rank got; differences() compares it with
    what the leaves say they are: by `_raw` or `_sha256`, by `_text`."""

    def __init__(self, out, items, layout):
        self.out, self.items, self.layout = out, items, layout
        self.ranks = 0

    def describe(self, ranks):
        self.ranks = ranks
        out = []
        for name, what in self.items:
            if isinstance(what, str):
                out.append({"name": name, "type": what})
            else:
                out.append({"name": name, "type": "tree",
                            "leaves": [self._target(leaf) for leaf in what]})
        return out

    def _target(self, leaf):
        out = {k: v for k, v in leaf.items() if k[0] != "_"}
        if leaf["kind"] == "string":
            out["capacity"] = len(leaf["_text"].encode()) + 1
        if leaf["kind"] == "array":
            boxes = self.layout(leaf, self.ranks)
            if boxes is not None:
                out["boxes"] = boxes
            out["strided"] = zlib.crc32(leaf["name"].encode()) % 2 == 1
        return out

    def differences(self):
        out = []
        for rank in range(self.ranks):
            with open(f"{self.out}.{rank}.bin", "rb") as f:
                data = f.read()
            with open(f"{self.out}.{rank}.json", encoding="utf-8") as f:
                texts = json.load(f)
            out += self._compare(rank, data, texts)
        for name, what in self.items:
            for leaf in what if not isinstance(what, str) else ():
                seen = leaf.pop("_seen", None)
                if seen is not None and hash_of(leaf, seen) != leaf["_sha256"]:
                    out.append(f"{name}: {leaf['name']}: the parts make up other bytes")
        return out

    def _compare(self, rank, data, texts):
        out, at, text = [], 0, 0
        for name, what in self.items:
            if isinstance(what, str):
                text += 1
                continue
            for leaf in what:
                where = f"rank {rank}: {name}: {leaf['name']}"
                if leaf["kind"] == "string":
                    if texts[text] != leaf["_text"]:
                        out.append(f"{where}: {texts[text]!r}, want {leaf['_text']!r}")
                    text += 1
                elif leaf["kind"] in ("array", "scalar"):
                    for box in self._boxes(leaf, rank):
                        got, at = self._box(leaf, box, data, at)
                        out += [f"{where}{box}: {d}" for d in self._judge(leaf, box, got)]
        assert at == len(data) and text == len(texts), "what came back is of another length"
        return out

    def _boxes(self, leaf, rank):
        boxes = self.layout(leaf, self.ranks) if leaf["kind"] == "array" else None
        return [_whole(leaf["shape"])] if boxes is None else boxes[rank]

    @staticmethod
    def _box(leaf, box, data, at):
        dtype = trees.DTYPES[leaf["dtype"]]
        n = int(np.prod(box[1], dtype=np.int64)) * dtype.itemsize
        return np.frombuffer(data[at:at + n], np.dtype((np.void, dtype.itemsize))
                             ).reshape(box[1]), at + n

    @staticmethod
    def _judge(leaf, box, got):
        if "_raw" in leaf:
            want = np.frombuffer(leaf["_raw"], got.dtype).reshape(leaf["shape"])
            want = want[tuple(slice(o, o + e) for o, e in zip(*box))]
            return [] if want.tobytes() == got.tobytes() else [
                f"{got.tobytes()[:40].hex()}, want {want.tobytes()[:40].hex()}"]
        if got.shape == tuple(leaf["shape"]):
            return [] if hash_of(leaf, got) == leaf["_sha256"] else ["other bytes"]
        # Only a hash is known: the parts are put together first.
        seen = leaf.setdefault("_seen", np.zeros(leaf["shape"], got.dtype))
        seen[tuple(slice(o, o + e) for o, e in zip(*box))] = got
        return []

    def blobs(self, rank):
        """Bytes of the items that are no trees, if no tree holds text."""
        with open(f"{self.out}.{rank}.json", encoding="utf-8") as f:
            return [bytes.fromhex(x) for x in json.load(f)]


def hash_of(leaf, got):
    """As trees.raw: in memory int2 and int4 are sign-extended."""
    a = np.ascontiguousarray(got).view(trees.DTYPES[leaf["dtype"]])
    return hashlib.sha256(trees.raw(a)).hexdigest()
