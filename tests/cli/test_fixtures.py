"""Every fixture of real Orbax: what `cairn show --json --hash` says is what its
expect.json says, and `cairn verify` finds nothing wrong."""

import glob
import json
import os
import unittest

import cli

# What a later version adds: (case, item, why).
UNKNOWN_ITEMS = {
    ("b03_mgr_items_root_metadata", "rng"): "JAX random keys have no handler yet",
    ("b03_mgr_items_root_metadata", "nprng"): "NumPy random keys have no handler yet",
}


def cases():
    return sorted(os.path.basename(p)[:-len(".expect.json")]
                  for p in glob.glob(os.path.join(cli.ORBAX, "*.expect.json")))


def expectation(case):
    with open(os.path.join(cli.ORBAX, case + ".expect.json"), encoding="utf-8") as f:
        return json.load(f)


def places(case, expect):
    """(path, step, items) of every checkpoint in the case."""
    root = os.path.join(cli.ORBAX, case)
    for number, step in expect.get("steps", {}).items():
        yield os.path.join(root, step["dir"]), int(number), step["items"]
    items = expect.get("items", {})
    if "steps" in expect:  # whole checkpoints beside the steps
        for name, item in items.items():
            yield os.path.join(root, name), None, {"": item}
    elif items:
        yield root, None, items


def key_type(t):
    """_METADATA does not tell an integer key or a field from a dict key."""
    return "seq" if t == "seq" else "dict"


class Fixtures(cli.Case):
    maxDiff = None

    def check_leaf(self, want, got, where):
        self.assertEqual(got["name"], want["name"], where)
        self.assertEqual([(k["key"], k["type"]) for k in got["path"]],
                         [(k["key"], key_type(k["type"])) for k in want["path"]], where)
        self.assertEqual(got["kind"], want.get("disk", {}).get("value_type", want["kind"]), where)
        stored = {**want, **{k: v for k, v in want.get("storage", {}).items()
                             if k in ("shape", "sha256")}}
        if "sha256" in want:
            self.assertEqual(got["dtype"], want["dtype"], where)
            self.assertEqual(got["shape"], stored["shape"], where)
            self.assertEqual(got["sha256"], stored["sha256"], where)
            self.assertGreaterEqual(got["stored_bytes"], 0, where)
        if "chunk" in want.get("storage", {}):
            self.assertEqual(got["chunk"], want["storage"]["chunk"], where)
        if want["kind"] == "string":
            self.assertEqual(got["value"], want["value"], where)
        if want["kind"] == "scalar" and "values" in want:
            value = want["values"][0]
            if value in ("NaN", "Infinity", "-Infinity"):
                value = {"$float": value}
            self.assertEqual(got["value"], value, where)
            self.assertIs(type(got["value"]), type(value), where)

    def check_tree(self, want, got, where):
        self.assertEqual(got["type"], "pytree", where)
        by_name = {leaf["name"]: leaf for leaf in got["leaves"]}
        self.assertEqual(len(by_name), len(got["leaves"]), where)
        self.assertEqual(sorted(by_name), sorted(a["name"] for a in want["leaves"]), where)
        for a in want["leaves"]:
            b = by_name[a["name"]]
            self.check_leaf(a, b, f"{where} {a['name']}")

    def check_array(self, want, got, where):
        """An array item is a tree with the one leaf `checkpoint`."""
        (leaf,) = got["leaves"]
        self.assertEqual(leaf["name"], "checkpoint", where)
        for member in ("dtype", "shape", "sha256"):
            self.assertEqual(leaf[member], want[member], where)

    def check_item(self, case, name, want, got, where):
        if (case, name) in UNKNOWN_ITEMS:
            self.assertIsNone(got["type"], f"{where}: take it off the list")
        elif want["type"] == "json":
            self.assertEqual(got["type"], "json", where)
            self.assertEqual(got["value"], want["value"], where)
        elif want["type"] == "array":
            self.check_array(want, got, where)
        else:
            self.assertEqual(want["type"], "pytree", where)
            self.check_tree(want, got, where)

    def check_case(self, case):
        expect = expectation(case)
        for path, step, items in places(case, expect):
            unknown = [n for n in items if (case, n) in UNKNOWN_ITEMS]
            run = cli.Run("show", "--json", "--hash", path)
            self.assertEqual(run.status, cli.UNSUPPORTED if unknown else cli.FINE, run)
            got = run.json
            self.assertEqual(got["cairn"], 1)
            if step is not None:
                self.assertEqual(got["step"], step)
            self.assertEqual(sorted(got["items"]), sorted(items), path)
            for name, want in items.items():
                self.check_item(case, name, want, got["items"][name], f"{path} {name}")

    def check_verify(self, case):
        expect = expectation(case)
        for path, _, items in places(case, expect):
            got = self.cairn("verify", "--json", path, status=self.verify_status(path)).json
            self.assertFalse(got["bound"])
            self.assertEqual(got["unknown_items"],
                             sum((case, n) in UNKNOWN_ITEMS for n in items), path)

    def verify_status(self, path):
        """Two steps of j02 have a _CHECKPOINT_METADATA that is no JSON."""
        file = os.path.join(path, "_CHECKPOINT_METADATA")
        if not os.path.exists(file):
            return cli.FINE
        try:
            with open(file, encoding="utf-8") as f:
                json.load(f)
        except ValueError:
            return cli.FOUND
        return cli.FINE


def add(kind, case):
    def test(self):
        getattr(self, "check_" + kind)(case)
    setattr(Fixtures, f"test_{kind}_{case}", test)


for name in cases():
    add("case", name)
    add("verify", name)
if not cases():
    Fixtures.test_all = unittest.skip(f"no fixtures in {cli.ORBAX}")(lambda self: None)

if __name__ == "__main__":
    cli.main()
