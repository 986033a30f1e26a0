"""Steps that nobody wrote with good intent, and paths that are no checkpoints:
every command ends soon, in bounded memory, with a status and one line that say
what is wrong."""

import json
import os
import re
import resource
import stat
import struct
import subprocess
import unittest

import cli

BYTES = {"configuration": {"endian": "little"}, "name": "bytes"}
ZARR2 = {"chunks": [2, 4], "compressor": None, "dimension_separator": ".", "dtype": "<f4",
         "fill_value": None, "filters": None, "order": "C", "shape": [4, 4], "zarr_format": 2}
ZARR3 = {"chunk_grid": {"configuration": {"chunk_shape": [2, 4]}, "name": "regular"},
         "chunk_key_encoding": {"name": "default"}, "codecs": [BYTES], "data_type": "float32",
         "fill_value": 0.0, "node_type": "array", "shape": [4, 4], "zarr_format": 3}
HANDLER = ("orbax.checkpoint._src.handlers.standard_checkpoint_handler."
           "StandardCheckpointHandler")
FULL = os.path.exists("/dev/full") and stat.S_ISCHR(os.stat("/dev/full").st_mode)


def grid(*chunk):
    return {"configuration": {"chunk_shape": chunk}, "name": "regular"}


def sharding(inner, index=None, chunk=(1, 4)):
    return {"name": "sharding_indexed",
            "configuration": {"chunk_shape": chunk, "codecs": inner,
                              "index_codecs": index or [BYTES, {"name": "crc32c"}]}}


def nested(levels):
    chain = [BYTES]
    for _ in range(levels):
        chain = [sharding(chain, chunk=(2, 4))]
    return chain


def tree(*names, zarr=2, **more):
    entries = {f"('{n}',)": {"key_metadata": [{"key": n, "key_type": 2}],
                             "value_metadata": {"value_type": "np.ndarray",
                                                "skip_deserialize": False}} for n in names}
    return json.dumps({"tree_metadata": entries, "use_ocdbt": False, "use_zarr3": zarr == 3,
                       "store_array_data_equal_to_fill_value": True, **more})


class Limited(cli.Case):
    # The sanitizers' shadow memory alone is more than any limit.
    LIMIT = None if "asan" in os.path.abspath(cli.TOOL) else 1 << 30

    def ends(self, *args):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (self.LIMIT, self.LIMIT))
        # As malloc: more than there is gives NULL, also under the sanitizers.
        options = os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1"
        run = subprocess.run([cli.TOOL, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             timeout=60, preexec_fn=limit if self.LIMIT else None,
                             env={**os.environ, "ASAN_OPTIONS": options})
        text = re.sub(r"==\d+==WARNING: AddressSanitizer failed to allocate.*\n", "",
                      run.stderr.decode(errors="replace"))
        self.assertIn(run.returncode, range(6), (args, text))
        if run.returncode > cli.FOUND:
            self.assertRegex(text, r"\A(cairn: [^\n]+\n)+\Z", args)
        return run


class Hostile(Limited):
    def step(self, metadata=None, array=None, zarr=2):
        """A step without a database, as Orbax writes with use_ocdbt=False."""
        folder = os.path.join(self.scratch(), "7")
        item = os.path.join(folder, "default")
        files = {"7/_CHECKPOINT_METADATA": json.dumps(
                     {"item_handlers": {"default": HANDLER}, "init_timestamp_nsecs": 1,
                      "commit_timestamp_nsecs": 2}),
                 "7/default/_METADATA": metadata or tree("w", zarr=zarr),
                 "7/default/w/" + (".zarray" if zarr == 2 else "zarr.json"): array}
        for i in range(2):
            chunk = struct.pack("<8f", *range(8 * i, 8 * i + 8))
            files["7/default/w/" + (f"{i}.0" if zarr == 2 else f"c/{i}/0")] = chunk
        for name, data in files.items():
            path = os.path.join(os.path.dirname(folder), name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data if isinstance(data, bytes) else data.encode())
        self.assertTrue(os.path.isdir(item))
        return folder

    def refused(self, step, leaf="w", shown=False):
        """verify finds damage, cat fails, show fails or shows what is claimed."""
        self.assertEqual(self.ends("verify", step).returncode, cli.FOUND)
        self.assertNotIn(self.ends("cat", step, leaf).returncode, (cli.FINE, cli.USAGE))
        show = self.ends("show", step).returncode
        self.assertEqual(show == cli.FINE, shown)
        out = os.path.join(self.scratch(), "out.npy")
        self.assertNotEqual(self.ends("cat", "--npy", out, step, leaf).returncode, cli.FINE)
        self.assertFalse(os.path.exists(out))

    def test_what_the_others_are_edits_of_is_fine(self):
        for zarr, meta in ((2, ZARR2), (3, ZARR3)):
            step = self.step(array=json.dumps(meta), zarr=zarr)
            self.assertEqual(json.loads(self.ends("cat", "--json", step, "w").stdout),
                             [[float(4 * i + k) for k in range(4)] for i in range(4)])
            self.assertEqual(self.ends("verify", step).returncode, cli.FINE)

    def test_zarr2_metadata(self):
        for edit, shown in (({"shape": [-4, 4]}, False), ({"shape": [4.5, 4]}, False),
                            ({"shape": [4]}, False), ({"shape": [2**63, 1]}, False),
                            ({"shape": [1] * 33, "chunks": [1] * 33}, False),
                            ({"chunks": [0, 4]}, False), ({"chunks": [2**60, 2**60]}, False),
                            ({"dtype": "<f5"}, False), ({"compressor": {"id": "nope"}}, False),
                            ({"filters": [{"id": "delta"}]}, False), ({"order": "Q"}, False),
                            # well-formed claims that the chunks do not keep
                            ({"dimension_separator": "/"}, True), ({"dtype": "<f8"}, True),
                            ({"chunks": [2**20, 2**15]}, True), ({"shape": [10**12, 4]}, True),
                            ({"shape": [10**6, 1], "chunks": [1, 1]}, True),
                            ({"shape": [2**40, 2**40]}, True),
                            ({"shape": [2**31, 2**31], "chunks": [2**31, 2**20]}, True)):
            with self.subTest(edit=edit):
                self.refused(self.step(array=json.dumps({**ZARR2, **edit})), shown=shown)

    def test_zarr3_metadata(self):
        for edit, shown in (({"codecs": nested(200)}, False), ({"codecs": []}, False),
                            ({"codecs": [BYTES, BYTES]}, False), ({"data_type": "float33"}, False),
                            ({"codecs": [BYTES, {"name": "nope"}]}, False),
                            ({"codecs": [sharding([BYTES], [BYTES, {"name": "gzip",
                               "configuration": {"level": 1}}])]}, False),
                            ({"shape": [2**40, 4], "chunk_grid": grid(2**40, 4),
                              "codecs": [sharding([BYTES], chunk=(1, 1))]}, False),
                            ({"fill_value": "0x" + "f" * 5000}, False), ({"new": {"a": 1}}, False),
                            ({"chunk_grid": grid(2**31, 2**20)}, True), ({"shape": [10**15, 4]}, True),
                            ({"codecs": [sharding([BYTES])]}, True)):
            with self.subTest(edit=edit):
                self.refused(self.step(array=json.dumps({**ZARR3, **edit}), zarr=3), shown=shown)

    def test_array_metadata_that_is_no_document(self):
        good = json.dumps(ZARR2)
        for text in ("", "[]", good[:-10], good + "\0", "[" * 100000, '{"a":' * 100000, "\xff"):
            with self.subTest(text=text[:20]):
                self.refused(self.step(array=text))

    def test_tree_metadata(self):
        good, array = tree("w"), json.dumps(ZARR2)
        for text in (good[:-20], '{"tree_metadata":' + "[" * 100000, "[]",
                     good.replace('"key_type": 2', '"key_type": 99'),
                     good.replace('"use_ocdbt": false', '"use_ocdbt": true'),
                     tree("w", zarr=3), tree("w", "x"),
                     tree("w", *(f"x{i}" for i in range(20000)))):
            with self.subTest(text=text[:60]):
                self.refused(self.step(text, array))

    def test_leaf_of_a_kind_that_is_not_known_is_not_printed_as_none(self):
        step = self.step(tree("w").replace("np.ndarray", "np.ndarrey"), json.dumps(ZARR2))
        run = self.ends("cat", step, "w")
        self.assertEqual(run.returncode, cli.UNSUPPORTED)
        self.assertIn(b"np.ndarrey", run.stderr)

    def test_leaf_that_is_not_supported_is_not_called_absent(self):
        step = self.step(array=json.dumps({**ZARR2, "compressor": {"id": "nope"}}))
        run = self.ends("cat", step, "w")
        self.assertEqual(run.returncode, cli.UNSUPPORTED)
        self.assertIn(b"nope", run.stderr)

    def test_name_that_leads_out_of_the_step_reads_nothing(self):
        step = self.step(tree("../../../secret"), json.dumps(ZARR2))
        secret = os.path.join(os.path.dirname(step), "secret")
        os.makedirs(secret)
        with open(os.path.join(secret, ".zarray"), "w", encoding="utf-8") as f:
            json.dump(ZARR2, f)
        for command in (("show", step), ("verify", step), ("cat", step, "../../../secret")):
            run = self.ends(*command)
            self.assertNotEqual(run.returncode, cli.FINE)
            self.assertIn(b'".." in it', run.stdout + run.stderr)

    def test_target_that_is_no_regular_file_is_not_removed(self):
        step = self.step(array=json.dumps({**ZARR2, "shape": [6, 4]}))  # chunk 2.0 is missing
        fifo = os.path.join(self.scratch(), "fifo")
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.assertEqual(self.ends("cat", "--npy", fifo, step, "w").returncode, cli.FOUND)
        os.close(reader)
        self.assertTrue(os.path.exists(fifo))


class NoCheckpoint(Limited):
    COMMANDS = (("ls",), ("show",), ("verify",), ("cat", "w"))

    def each(self, path):
        for name, *leaf in self.COMMANDS:
            with self.subTest(command=name, path=path):
                yield self.ends(name, path, *leaf)

    def test_paths_that_are_no_checkpoints(self):
        folder = self.scratch()
        for name, data in (("file", b"x"), ("zeros", b"\0" * 100)):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
        os.symlink("nothing", os.path.join(folder, "dangling"))
        os.symlink("loop", os.path.join(folder, "loop"))
        os.mkfifo(os.path.join(folder, "fifo"))
        for path in ("file", "zeros", "dangling", "loop", "fifo", "absent", "file/below",
                     "a\nb", "\x1b[31m", "\udcff", "x" * 300, "y/" * 2000):
            for run in self.each(os.path.join(folder, path)):
                self.assertIn(run.returncode, (cli.USAGE, cli.ABSENT, cli.IO))
                self.assertEqual(run.stdout, b"")
        for path in ("/dev/null", "/dev/zero", "/proc/self/mem"):
            for run in self.each(path):
                self.assertNotEqual(run.returncode, cli.FINE)

    def test_folders_of_other_things(self):
        for path in ("/proc/self", "/dev", "/etc", os.path.dirname(cli.__file__)):
            for run in self.each(path):
                self.assertIn(run.returncode, range(6))

    def test_dump_of_what_is_no_database(self):
        for path in ("/dev/null", "/etc/passwd", cli.TOOL, "/", os.path.join(self.scratch(), "no")):
            self.assertNotEqual(self.ends("dump", path).returncode, cli.FINE)

    def test_messages_are_one_line_whatever_is_in_a_name(self):
        root = self.saved("small")
        for leaf in ("a\nb", "\x1b[2J", "\x7f", "\udcff", "", "x" * 100000):
            self.assertEqual(self.ends("cat", root, leaf).returncode, cli.ABSENT)

    def test_file_that_cannot_be_written(self):
        root = self.saved("small")
        for out in ("/", "/nonexistent/f", "x" * 300):
            run = self.ends("cat", "--npy", out, root, "params/w")
            self.assertNotEqual(run.returncode, cli.FINE, out)

    @unittest.skipUnless(FULL, "/dev/full is no device here")
    def test_full_standard_output(self):
        root = self.saved("small")
        for command in (("ls", root), ("show", root), ("cat", root, "params/w"), ("verify", root)):
            with open("/dev/full", "wb") as full:
                run = subprocess.run([cli.TOOL, *command], stdout=full, stderr=subprocess.PIPE,
                                     timeout=60)
            self.assertEqual(run.returncode, cli.IO, command)


if __name__ == "__main__":
    cli.main()
