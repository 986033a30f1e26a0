"""cairn show of steps that Cairn saved; what is in them is in make_step.c."""

import hashlib
import os
import struct
import unittest

import cli

W = struct.pack(f"<{96 * 64}f", *(r - c / 64 for r in range(96) for c in range(64)))
LEAVES = {  # name: (kind, dtype, shape, bytes)
    "params.w": ("np.ndarray", "float32", [96, 64], W),
    "params.half": ("np.ndarray", "bfloat16", [2, 2], bytes.fromhex("803f00c0807f0000")),
    "count": ("scalar", "int64", [], struct.pack("<q", -7)),
    "rate": ("scalar", "float64", [], struct.pack("<d", 0.001)),
    "flag": ("scalar", "bool", [], b"\1"),
    "list.0": ("np.ndarray", "int32", [3], struct.pack("<3i", 1, 2, 3)),
    "list.1": ("np.ndarray", "int32", [3], struct.pack("<3i", 4, 5, 6)),
}
VALUES = {"count": -7, "rate": 0.001, "flag": True, "name": 'a "name"\n'}


class Written(cli.Case):
    def check(self, profile, zarr):
        root = self.saved(*profile)
        got = self.cairn("show", "--json", "--hash", root).json
        self.assertEqual((got["cairn"], got["path"], got["step"]), (1, root, 7))
        tree = got["items"]["default"]
        self.assertEqual((tree["type"], tree["ocdbt"], tree["zarr"]), ("pytree", True, zarr))
        leaves = {leaf["name"]: leaf for leaf in tree["leaves"]}
        self.assertEqual(set(leaves), set(LEAVES) | {"name", "nothing"})
        for name, (kind, dtype, shape, data) in LEAVES.items():
            leaf = leaves[name]
            self.assertEqual((leaf["kind"], leaf["dtype"], leaf["shape"], leaf["bytes"]),
                             (kind, dtype, shape, len(data)), name)
            self.assertEqual(leaf["sha256"], hashlib.sha256(data).hexdigest(), name)
        for name, value in VALUES.items():
            self.assertEqual(leaves[name]["value"], value)
        self.assertEqual((leaves["name"]["kind"], leaves["nothing"]["kind"]), ("string", "None"))
        self.assertEqual(leaves["list.1"]["path"], [{"key": "list", "type": "dict"},
                                                    {"key": "1", "type": "seq"}])
        return got

    def test_cairn_profile(self):
        got = self.check((), 3)
        self.assertEqual(got["items"]["metrics"],
                         {"type": "json", "value": {"loss": 0.25, "steps": [1, 2]}})
        self.assertEqual(got["items"]["rng"]["type"], "bytes")
        (leaf,) = got["items"]["rng"]["leaves"]
        self.assertEqual(leaf["sha256"], hashlib.sha256(b"\0\1\2bytes").hexdigest())

    def test_orbax_profile(self):
        self.check(("orbax",), 2)

    def test_orbax_v1_profile(self):
        self.check(("orbax_v1",), 3)

    def test_tree_alone(self):
        self.assertEqual(list(self.check(("small",), 3)["items"]), ["default"])

    def test_for_people(self):
        out = self.cairn("show", self.saved()).out
        self.assertRegex(out, r"(?m)^default: pytree, ocdbt, zarr 3, 9 leaves$")
        self.assertRegex(out, r"(?m)^  params\.w +np\.ndarray +float32 +96x64 ")
        self.assertIn(" 24.6 kB ", out)  # 96 * 64 * 4 bytes, by thousands
        self.assertRegex(out, r"(?m)^  rate +scalar +float64 .* 0\.001$")
        self.assertRegex(out, r'(?m)^  name +string +a "name"\\x0a$')
        self.assertIn('"loss": 0.25', out)

    @cli.needs_fixtures
    def test_long_name_pushes_only_its_own_row(self):
        lines = self.cairn("show", cli.fixture("a05_v0_odd_keys")).out.splitlines()
        self.assertGreater(max(map(len, lines)), 200)
        self.assertLess(lines[2].index("KIND"), 40)

    def test_listing(self):
        root = self.saved()
        (step,) = self.cairn("ls", "--json", root).json["steps"]
        self.assertEqual((step["step"], step["state"], step["dir"], step["items"], step["why"]),
                         (7, "complete", "7", ["default", "metrics", "rng"], None))
        self.assertEqual(self.cairn("ls", "--json", os.path.join(root, "7")).json["steps"], [step])

    def test_missing_data_file_is_a_broken_step(self):
        root = self.saved()
        step = os.path.join(root, "7")
        name = next(n for n in cli.files_of(step) if "/d/" in n)
        os.remove(os.path.join(step, name))
        (listed,) = self.cairn("ls", "--json", root).json["steps"]
        self.assertEqual(listed["state"], "broken")
        self.assertIn(name, listed["why"])
        self.cairn("show", step, status=cli.FOUND)
        self.cairn("show", root, status=cli.ABSENT)


if __name__ == "__main__":
    cli.main()
