"""cairn dump, against what is known of the fixtures' databases."""

import glob
import os
import struct
import unittest

import cli

MANIFEST, NODE = 0x0CDB3A2A, 0x0CDB20DE


def magic(path):
    with open(path, "rb") as f:
        return struct.unpack(">I", f.read(4))[0]


@cli.needs_fixtures
class Dump(cli.Case):
    def manifest(self):
        return os.path.join(cli.fixture("b01_mgr_default_item"), "2", "default", "manifest.ocdbt")

    def test_manifest_shows_configuration_and_tree_roots(self):
        self.assertEqual(magic(self.manifest()), MANIFEST)
        out = self.cairn("dump", self.manifest()).out
        self.assertIn("max_inline_value_bytes 1024", out)
        self.assertIn("max_decoded_node_bytes 100000000", out)
        self.assertRegex(out, r"generation 1 root_height 0 btreenode::d/[0-9a-f]{32}:\d+:\d+")

    def test_data_file_is_searched_for_nodes(self):
        (data,) = glob.glob(os.path.join(os.path.dirname(self.manifest()), "d", "*"))
        run = self.cairn("dump", "--json", data)
        objects = run.json["objects"]
        self.assertTrue(objects)
        text = "".join(o["text"] for o in objects)
        for key in ("n/.zarray", "n/0", "step/.zarray", "w/.zarray", "w/0.0"):
            self.assertIn(key, text)

    def test_object_at_an_offset(self):
        (data,) = glob.glob(os.path.join(os.path.dirname(self.manifest()), "d", "*"))
        (first, *_) = self.cairn("dump", "--json", data).json["objects"]
        (again,) = self.cairn("dump", "--json", data, str(first["offset"]),
                              str(first["length"])).json["objects"]
        self.assertEqual(again, first)

    def test_manifest_that_is_damaged(self):
        path = os.path.join(self.scratch(), "manifest.ocdbt")
        with open(self.manifest(), "rb") as f, open(path, "wb") as g:
            g.write(f.read())
        cli.flip(path, os.path.getsize(path) // 2)
        run = self.cairn("dump", path, status=cli.FOUND)
        self.assert_error_line(run)


class NoObject(cli.Case):
    def file(self, data):
        path = os.path.join(self.scratch(), "f")
        with open(path, "wb") as f:
            f.write(data)
        return path

    def test_no_object_in_it(self):
        for data in (b"", b"x", b"\x0c\xdb\x20\xde", b"\x0c\xdb\x20\xde" * 9, bytes(range(256))):
            run = self.cairn("dump", self.file(data), status=cli.FOUND)
            self.assert_error_line(run)

    def test_range_outside_of_the_file(self):
        self.cairn("dump", self.file(b"abc"), "2", "2", status=cli.USAGE)
        self.cairn("dump", self.file(b"abc"), "4", "18446744073709551615", status=cli.USAGE)

    def test_file_that_is_not_there_or_no_file(self):
        self.cairn("dump", os.path.join(self.scratch(), "f"), status=cli.ABSENT)
        self.cairn("dump", self.scratch(), status=cli.USAGE)


if __name__ == "__main__":
    cli.main()
