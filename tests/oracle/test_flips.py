"""Every single bit of stored chunks, flipped in the file: what TensorStore and
what Cairn say.

In the profile `cairn` each flip is an error for both. In the profiles that
equal Orbax's metadata a chunk is a zstd frame with a checksum of its content.
Some bits of a frame have no bearing on the content: one of the frame header
that decoders ignore, with sharding the header's flag that there is a checksum
(then the shard's reader takes the checksum for what follows the frame), and in
what is compressed a few that spell the same symbols in another way. The values
are right all the same, which is what is asserted of each."""

import glob
import os
import shutil
import threading

import numpy as np
import pytest

import cairn
import trees

ts = pytest.importorskip("tensorstore")


def low(n):
    """Compressible, but not to nothing."""
    return np.random.default_rng(2).integers(0, 16, n, np.int32)


ARRAYS = {
    "noise_out_of_line": trees.values(1, "uint8", (1030,)),
    "low_out_of_line": low(1200),
    "noise_inline": trees.values(2, "uint8", (11, 9)),
    "low_inline": low(260),
}
CASES = [(profile, name) for profile in cairn.PROFILES for name in ARRAYS]


def database(top):
    return {"driver": "ocdbt", "base": f"file://{top}/"}


def mark_of(path):
    """Bytes of the line that a data file begins with."""
    with open(path, "rb") as f:
        line = f.readline()
    assert line.startswith(b"cairn save ") and len(line) == 44
    return len(line)


def places(top, name):
    """[(file, start, end)] of what a reader of the array's chunk meets: the
    chunk itself where it is out of line, and the merged index with what is
    inline in it."""
    # The line that names the save is for Cairn: no reader of the index meets it.
    out = [(path, mark_of(path), os.path.getsize(path)) for path in glob.glob(f"{top}/d/*")]
    if name.endswith("out_of_line"):
        kv = ts.KvStore.open(database(top)).result()
        chunk, = (k for k in kv.list().result() if not k.endswith((b".zarray", b"zarr.json")))
        value = kv.read(chunk).result().value
        assert len(value) > 1024
        path, = glob.glob(f"{top}/ocdbt.process_0/d/*")
        with open(path, "rb") as f:
            at = f.read().find(value)
        assert at >= 0
        return [(path, at, at + len(value))]
    return out + [(f"{top}/manifest.ocdbt", 0, os.path.getsize(f"{top}/manifest.ocdbt"))]


def tensorstore_flips(top, profile, name, path, start, end):
    """[(bit, values are right)] of the flips that TensorStore does not report."""
    spec = {"driver": "zarr" if profile == "orbax" else "zarr3",
            "kvstore": database(top) | {"path": f"{name}/"}}
    assert trees.raw(ts.open(spec).result().read().result()) == trees.raw(ARRAYS[name])
    unnoticed = []
    fd = os.open(path, os.O_RDWR)
    for bit in range(start * 8, end * 8):
        byte = os.pread(fd, 1, bit // 8)[0]
        os.pwrite(fd, bytes([byte ^ 1 << bit % 8]), bit // 8)
        try:
            got = ts.open(spec).result().read().result()
            unnoticed.append((bit, trees.raw(got) == trees.raw(ARRAYS[name])))
        except Exception:  # whatever it is, the flip did not pass
            pass
        os.pwrite(fd, bytes([byte]), bit // 8)
    os.close(fd)
    return unnoticed


@pytest.fixture(scope="module")
def judged(tool, tmp_path_factory):
    """{case: [(file, start, end, TensorStore's list, Cairn's result)]}. The two
    work at the same time, each on its copy."""
    batch = cairn.Batch(tmp_path_factory.mktemp("flips"))
    for profile, name in CASES:
        batch.save({name: ARRAYS[name]}, path=f"{batch.dir}/{profile}_{name}", item="",
                   profile=profile)
    batch.run(1)
    copy, order = tmp_path_factory.mktemp("copy"), []
    for profile, name in CASES:
        top = f"{batch.dir}/{profile}_{name}"
        shutil.copytree(top, copy / f"{profile}_{name}")
        for place in places(top, name):
            batch.flips(cairn.leaves_of({name: ARRAYS[name]}), *place, path=top)
            order.append((profile, name, place))
    results = []
    worker = threading.Thread(target=lambda: results.extend(batch.run(1, check=False)))
    worker.start()
    theirs = [tensorstore_flips(copy / f"{profile}_{name}", profile, name,
                                place[0].replace(batch.dir, str(copy)), *place[1:])
              for profile, name, place in order]
    worker.join()
    assert len(results) == len(order)
    out = {}
    for (profile, name, place), their, ours in zip(order, theirs, results):
        out.setdefault((profile, name), []).append((*place, their, ours))
    return out


@pytest.fixture(params=CASES, ids="-".join)
def case(request, judged):
    return (*request.param, judged[request.param])


def test_tensorstore_detects_flips(case):
    profile, name, places_ = case
    for path, start, end, unnoticed, _ in places_:
        assert all(right for _, right in unnoticed), (path, unnoticed)
        if profile == "cairn" or name.endswith("inline") or "process_0" not in path:
            assert unnoticed == [], path
        elif name.startswith("noise"):
            assert [bit - start * 8 for bit, _ in unnoticed] == header_bits(profile)
        else:
            assert len(unnoticed) < 0.02 * 8 * (end - start)


def test_cairn_detects_flips(case):
    profile, name, places_ = case
    for path, start, end, _, told in places_:
        assert told["code"] == "ok", told["message"]
        unnoticed = told["unnoticed"]
        assert told["corrupt"] + len(unnoticed) == 8 * (end - start), path
        assert all(right for _, right in unnoticed), (path, unnoticed)
        if profile == "cairn" or not name.startswith("low") or "process_0" not in path:
            assert unnoticed == [], path


def header_bits(profile):
    """Of the frame header's descriptor, the byte after the magic number: bit 4
    is unused; bit 2 says that there is a checksum."""
    return [8 * 4 + 4] if profile == "orbax" else [8 * 4 + 2, 8 * 4 + 4]


def test_report(judged, capsys):
    """For people: what each profile lets pass."""
    with capsys.disabled():
        print()
        for (profile, name), places_ in judged.items():
            for path, start, end, their, ours in places_:
                print(f"{profile} {name} {os.path.basename(path)[:14]}: of {8 * (end - start)} "
                      f"flips unnoticed: TensorStore {len(their)}, Cairn "
                      f"{len(ours['unnoticed'])}; values wrong: "
                      f"{sum(not right for _, right in their)}, "
                      f"{sum(not right for _, right in ours['unnoticed'])}")
