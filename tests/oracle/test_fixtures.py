"""Checkpoints that real Orbax wrote, of all kinds and ages: each restores, on
two and on three ranks, to what its expect.json says."""

import json
import os

import pytest

import cairn

# What a restore cannot do (yet), each with its reason.
EXPECTED_FAILURES = {}

KINDS = {"jax.Array": "array", "np.ndarray": "array", "scalar": "scalar", "string": "string",
         "None": "none", "Dict": "dict", "List": "list", "Tuple": "tuple", "NamedTuple": "none"}
KEYS = {"dict": "dict", "dict:int": "int", "seq": "seq", "attr": "attr"}
# Items that are several trees or files of Orbax's own, read by no handler.
OTHER_ITEMS = ("array", "jax_random_key", "numpy_random_key")


def directory():
    return os.path.join(os.environ.get("CAIRN_FIXTURES", ""), "orbax")


def cases():
    if not os.path.isdir(directory()):
        return []
    return sorted(f.removesuffix(".expect.json") for f in os.listdir(directory())
                  if f.endswith(".expect.json"))


def expect(case):
    with open(os.path.join(directory(), f"{case}.expect.json"), encoding="utf-8") as f:
        return json.load(f)


def key_of(key):
    number = key["type"] in ("dict:int", "seq")
    return [KEYS[key["type"]], int(key["key"]) if number else key["key"]]


def leaf_of(leaf):
    kind = KINDS[leaf["kind"]]
    out = {"path": [key_of(k) for k in leaf["path"]], "name": leaf["name"], "kind": kind}
    if kind in ("array", "scalar"):
        out.update(dtype=leaf["dtype"], shape=leaf["shape"], _sha256=leaf["sha256"])
    if kind == "string":
        out["_text"] = leaf["value"]
    return out


def parts(case):
    """(path below the case, [(item, leaves)]) of everything that is a checkpoint
    in it; json items are (item, "json")."""
    said = expect(case)
    for step in said.get("steps", {}).values():
        yield step["dir"], items_of(step["items"])
    items = dict(said.get("items") or {})
    if case.startswith("l_"):  # whole checkpoints, stored side by side
        for name in list(items):
            yield name, items_of({"": items.pop(name)})
    if items:
        yield "", items_of(items)


def items_of(items):
    return [(name, "json" if item["type"] == "json" else [leaf_of(x) for x in item["leaves"]])
            for name, item in items.items() if item["type"] not in OTHER_ITEMS]


def json_values(case):
    """The documents of a case's json items, in the order of parts()."""
    for step in expect(case).get("steps", {}).values():
        yield from (i["value"] for i in step["items"].values() if i["type"] == "json")
    items = expect(case).get("items") or {}
    yield from (i["value"] for i in items.values() if i["type"] == "json")


@pytest.mark.parametrize("ranks", [2, 3])
def test_all_restore(tool, fixtures, tmp_path, ranks):
    batch = cairn.Batch(tmp_path)
    backs = []
    for case in cases():
        for path, items in parts(case):
            where = os.path.join(fixtures, case, path).rstrip("/")
            backs.append((case, path, batch.restore_items(items, cairn.rows, path=where)))
    results = batch.run(ranks, check=False)
    found = {}
    for (case, path, back), result in zip(backs, results):
        differences = [result["message"]] if result["code"] != "ok" else back.differences()
        if differences:
            found.setdefault(case, []).extend(f"{path}: {d}" for d in differences)
    assert sorted(found) == sorted(EXPECTED_FAILURES), json.dumps(found, indent=1)
    assert len(backs) > 60


def test_json_items(tool, fixtures, tmp_path):
    """The documents, as far as JSON of Python can say them."""
    for case in cases():
        want = list(json_values(case))
        if not want:
            continue
        batch = cairn.Batch(tmp_path / case)
        backs = []
        for path, items in parts(case):
            documents = [i for i in items if i[1] == "json"]
            if documents:
                backs.append(batch.restore_items(documents, path=os.path.join(fixtures, case, path)))
        batch.run(1)
        got = [json.loads(text) for back in backs for text in back.blobs(0)]
        assert json.dumps(got) == json.dumps([plain(v) for v in want]), case


def plain(value):
    """{"$float": "NaN"} and {"$int": "1..."} as Python's numbers."""
    if isinstance(value, dict):
        if set(value) == {"$float"}:
            return float(value["$float"])
        if set(value) == {"$int"}:
            return int(value["$int"])
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def test_steps(tool, fixtures, tmp_path):
    """Of managers with steps named by their number alone, or as told."""
    batch, want = cairn.Batch(tmp_path), []
    for case in cases():
        manager = expect(case).get("manager")
        if manager:
            more = {}
            if "step_prefix" in manager:
                more = {"step_prefix": manager["step_prefix"], "step_digits": manager["fixed_length"]}
            batch.steps(os.path.join(fixtures, case), **more)
            want.append((case, manager["steps"], manager["latest"]))
    told = batch.run(2)
    assert [(c, r["steps"], r["latest"]) for (c, _, _), r in zip(want, told)] == want


def test_newest_step_restores(tool, fixtures, tmp_path):
    """Through a manager, with leftovers and unmarked steps beside it."""
    batch = cairn.Batch(tmp_path)
    backs = []
    for case in ("b01_mgr_default_item", "b06_mgr_commit_file_mode", "j01_interrupted_saves",
                 "j02_empty_checkpoint_metadata"):
        said = expect(case)
        latest = said["manager"]["latest"]
        items = items_of(said["steps"][str(latest)]["items"])
        backs.append(batch.restore_items(items, root=os.path.join(fixtures, case), step=-1))
    batch.run(3)
    assert [back.differences() for back in backs] == [[]] * len(backs)
