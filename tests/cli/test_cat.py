"""cairn cat: leaves printed, and written to files; the values are those of the
fixtures' expect.json and of make_step.c."""

import ast
import hashlib
import json
import os
import struct
import unittest

import cli


def expected_leaves(case):
    with open(os.path.join(cli.ORBAX, case + ".expect.json"), encoding="utf-8") as f:
        return json.load(f)["items"][""]["leaves"]


def read_npy(path):
    """numpy's format 1.0 by its definition: (descr, shape, data)."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    (n,) = struct.unpack("<H", data[8:10])
    assert (10 + n) % 64 == 0 and data[9 + n:10 + n] == b"\n"
    head = ast.literal_eval(data[10:10 + n].decode())
    assert head["fortran_order"] is False
    return head["descr"], head["shape"], data[10 + n:]


def flat(value):
    if not isinstance(value, list):
        return [value]
    return [v for part in value for v in flat(part)]


@cli.needs_fixtures
class Fixtures(cli.Case):
    CASE = "a04_v0_host_leaves"

    def leaves(self, data=True):
        return [leaf for leaf in expected_leaves(self.CASE) if ("sha256" in leaf) == data]

    def test_json_values_of_every_type(self):
        for leaf in self.leaves():
            if leaf["dtype"].startswith("complex") or "values" not in leaf:
                continue
            with self.subTest(leaf=leaf["name"]):
                got = self.cairn("cat", "--json", cli.fixture(self.CASE), leaf["name"]).json
                want = [{"$float": v} if isinstance(v, str) else v for v in leaf["values"]]
                self.assertEqual(flat(got), want)

    def test_json_nests_as_the_shape_does(self):
        (leaf,) = [x for x in self.leaves() if x["name"] == "np.complex64"]
        got = self.cairn("cat", "--json", cli.fixture(self.CASE), leaf["name"]).json
        self.assertEqual([len(row) for row in got], [leaf["shape"][1]] * leaf["shape"][0])
        self.assertEqual([v for row in got for v in row], leaf["values"])

    def test_raw_is_the_bytes_that_are_hashed(self):
        for leaf in self.leaves():
            with self.subTest(leaf=leaf["name"]):
                run = self.cairn("cat", "--raw", "-", cli.fixture(self.CASE), leaf["name"])
                self.assertEqual(hashlib.sha256(run.bytes).hexdigest(), leaf["sha256"])

    def test_npy(self):
        types = {"bool": "|b1", "int8": "|i1", "uint8": "|u1", "float16": "<f2",
                 "complex64": "<c8", "complex128": "<c16", "int2": "|i1", "int4": "|i1",
                 "bfloat16": "<u2"}
        for kind in ("int", "uint", "float"):
            for size in (2, 4, 8):
                types.setdefault(f"{kind}{size * 8}", f"<{kind[0]}{size}")
        file = os.path.join(self.scratch(), "f.npy")
        for leaf in self.leaves():
            with self.subTest(leaf=leaf["name"]):
                run = cli.Run("cat", "--npy", file, cli.fixture(self.CASE), leaf["name"])
                self.assertEqual(run.status, cli.FINE, run)
                descr, shape, data = read_npy(file)
                self.assertEqual(shape, tuple(leaf["shape"]))
                self.assertEqual(descr, types.get(leaf["dtype"], "|u1"))
                carried = leaf["dtype"] not in types or leaf["dtype"] in ("int2", "int4", "bfloat16")
                self.assertEqual("numpy has no" in run.err, carried, run)
                if leaf["dtype"] in ("int2", "int4"):
                    self.assertEqual(list(struct.unpack(f"{len(data)}b", data)), leaf["values"])
                else:
                    self.assertEqual(hashlib.sha256(data).hexdigest(), leaf["sha256"])

    def test_leaves_without_data(self):
        texts = {"Dict": "{}\n", "List": "[]\n", "Tuple": "[]\n", "None": "None\n"}
        for leaf in self.leaves(data=False):
            kind = leaf["disk"]["value_type"]
            with self.subTest(leaf=leaf["name"]):
                want = leaf["value"] + "\n" if kind == "string" else texts[kind]
                self.assertEqual(self.cairn("cat", cli.fixture(self.CASE), leaf["name"]).out, want)

    def test_no_array_to_write(self):
        file = os.path.join(self.scratch(), "f")
        for leaf in self.leaves(data=False)[:2]:
            self.cairn("cat", "--raw", file, cli.fixture(self.CASE), leaf["name"],
                       status=cli.UNSUPPORTED)
        self.assertFalse(os.path.exists(file))

    def test_float32_is_printed_shortest(self):
        got = self.cairn("cat", cli.fixture(self.CASE), "np.float32").out
        self.assertIn("0.0601436", got)
        self.assertNotIn("0.0601436011493206", got)
        self.assertEqual(got.count("\n"), 3)  # a row a line

    def test_ambiguous_leaf(self):
        run = self.cairn("cat", cli.fixture("b03_mgr_items_root_metadata"), "b.1", status=cli.FINE)
        self.assertEqual(run.out, "txt\n")

    def test_metrics_document(self):
        path = os.path.join(cli.fixture("b02_mgr_metrics_best"), "3", "metrics")
        self.assertEqual(json.loads(self.cairn("cat", path).out),
                         {"loss": 1e-05, "big": 1e16, "x": 12345678901234567890})


NAN, INF = {"$float": "NaN"}, {"$float": "Infinity"}
# Largest, smallest, and special values, from the definitions of the types
# (OCP MX and FP8, IEEE P3109, as ml_dtypes gives them).
PATTERNS = {
    "float4_e2m1fn": {1: 0.5, 7: 6.0, 8: -0.0, 15: -6.0},
    "float8_e3m4": {1: 2.0**-6, 0x6F: 15.5, 0x70: INF, 0x71: NAN, 0xEF: -15.5},
    "float8_e4m3fn": {1: 2.0**-9, 0x7E: 448.0, 0x7F: NAN, 0x80: -0.0, 0xFE: -448.0, 0xFF: NAN},
    "float8_e4m3fnuz": {1: 2.0**-10, 0x7F: 240.0, 0x80: NAN, 0xFF: -240.0},
    "float8_e4m3b11fnuz": {1: 2.0**-13, 0x7F: 30.0, 0x80: NAN, 0xFF: -30.0},
    "float8_e5m2": {1: 2.0**-16, 0x7B: 57344.0, 0x7C: INF, 0x7D: NAN, 0x80: -0.0},
    "float8_e5m2fnuz": {1: 2.0**-17, 0x7F: 57344.0, 0x80: NAN, 0xFF: -57344.0},
    "float8_e8m0fnu": {0: 2.0**-127, 0x7F: 1.0, 0xFE: 2.0**127, 0xFF: NAN},
}


class Written(cli.Case):
    def test_all_patterns_of_the_small_floats(self):
        root = self.saved("patterns")
        for dtype, values in PATTERNS.items():
            got = self.cairn("cat", "--json", root, dtype).json
            self.assertEqual(len(got), 16 if dtype.startswith("float4") else 256)
            for bits, value in values.items():
                self.assertEqual(repr(got[bits]), repr(value), f"{dtype} {bits:#x}")
            finite = [v for v in got[:len(got) // 2] if isinstance(v, float)]
            self.assertEqual(finite, sorted(finite), dtype)

    def test_scalars_and_strings(self):
        root = self.saved("small")
        for leaf, text in (("count", "-7\n"), ("rate", "0.001\n"), ("flag", "true\n"),
                           ("name", 'a "name"\n\n'), ("nothing", "None\n")):
            self.assertEqual(self.cairn("cat", root, leaf).out, text)

    def test_float32_is_printed_as_float64_is(self):
        """In plain form where Python's repr is: 20.0 and not 2e+01."""
        text = self.cairn("cat", self.saved("small"), "params/w").out
        self.assertEqual([v for row in ast.literal_eval(text) for v in row],
                         [r - c / 64 for r in range(96) for c in range(64)])
        self.assertTrue(text.startswith("[[0.0, -0.015625, -0.03125, "), text[:99])
        self.assertIn(" [20.0, 19.984375, ", text)
        self.assertNotIn("e", text)

    def test_item_asked_for_as_a_leaf_is_shown_the_way(self):
        root = self.saved()
        run = self.cairn("cat", root, "metrics", status=cli.ABSENT)
        self.assertIn(os.path.join(root, "7", "metrics") + "\n", run.err)

    def test_path_with_slashes(self):
        root = self.saved("small")
        want = "[[1.0, -2.0],\n [inf, 0.0]]\n".replace("inf", "Infinity")
        self.assertEqual(self.cairn("cat", root, "params/half").out, want)
        self.assertEqual(self.cairn("cat", root, "params.half").out, want)
        self.assertEqual(self.cairn("cat", root, "list/1").out, "[4, 5, 6]\n")

    def test_array_of_several_chunks(self):
        root = self.saved("small")
        raw = self.cairn("cat", "--raw", "-", root, "params/w").bytes
        self.assertEqual(struct.unpack(f"<{96 * 64}f", raw),
                         tuple(r - c / 64 for r in range(96) for c in range(64)))

    def test_items_without_leaves(self):
        step = os.path.join(self.saved(), "7")
        self.assertEqual(self.cairn("cat", os.path.join(step, "metrics")).json,
                         {"loss": 0.25, "steps": [1, 2]})
        self.assertEqual(self.cairn("cat", os.path.join(step, "rng")).bytes, b"\0\1\2bytes")
        file = os.path.join(self.scratch(), "f")
        self.cairn("cat", "--raw", file, os.path.join(step, "rng"))
        with open(file, "rb") as f:
            self.assertEqual(f.read(), b"\0\1\2bytes")

    def test_leaf_that_is_not_there(self):
        root = self.saved("small")
        self.assertIn("wrong", self.cairn("cat", root, "wrong", status=cli.ABSENT).err)
        self.cairn("cat", root, status=cli.USAGE)

    def test_file_that_cannot_be_written(self):
        root = self.saved("small")
        self.cairn("cat", "--raw", os.path.join(root, "no", "f"), root, "count",
                   status=cli.ABSENT)
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                run = cli.Run("cat", "--raw", "-", root, "params/w", stdout=full)
            self.assertEqual(run.status, cli.IO)


if __name__ == "__main__":
    cli.main()
