"""Help, version, usage errors, and how the tool ends."""

import os
import shutil
import subprocess
import unittest

import cli

COMMANDS = ("ls", "show", "cat", "verify", "dump", "bench")


class Usage(cli.Case):
    def test_version(self):
        self.assertRegex(self.cairn("--version").out, r"^cairn \d+\.\d+\.\d+\n$")

    def test_help(self):
        for run in (self.cairn("--help"), self.cairn("help")):
            for c in COMMANDS:
                self.assertRegex(run.out, rf"(?m)^  {c} ")
            self.assertIn("Exit status: 0 fine; 1 looked and found", run.out)

    def test_help_of_a_command(self):
        for c in COMMANDS:
            a, b = self.cairn("help", c), self.cairn(c, "--help")
            self.assertEqual(a.out, b.out)
            self.assertTrue(a.out.startswith(f"usage: cairn {c} "), a)

    def test_help_says_what_a_path_is_where_one_is_taken(self):
        for c in COMMANDS:
            self.assertEqual("PATH is a root" in self.cairn("help", c).out, c not in ("dump", "bench"), c)

    def test_summaries_stand_in_one_column(self):
        lines = self.cairn("--help").out.splitlines()
        for summary in ("lists the steps of a root", "prints one leaf, or writes it",
                        "times saves and restores"):
            (line,) = [x for x in lines if x.endswith("  " + summary)]
            self.assertEqual(line.index(summary), 40, line)

    def test_wrong_usage_is_status_2_with_a_hint(self):
        for args in ((), ("wrong",), ("--wrong",), ("help", "wrong"), ("ls",), ("ls", "a", "b"),
                     ("ls", "--wrong", "a"), ("ls", "-x", "a"), ("show",), ("cat",),
                     ("cat", "a", "b", "c"), ("cat", "--npy"), ("cat", "--npy", "f", "--raw", "g", "p", "l"),
                     ("verify",), ("verify", "--jobs", "0", "p"), ("verify", "--jobs", "two", "p"),
                     ("verify", "--jobs"), ("dump",), ("dump", "f", "1"), ("dump", "f", "a", "b"),
                     ("bench",), ("bench", "wrong"), ("bench", "save", "restore"),
                     ("bench", "save", "--rounds", "0"), ("bench", "--wrong"),
                     ("show", ""), ("show", "nosuch://x/y")):
            with self.subTest(args=args):
                run = self.cairn(*args, status=cli.USAGE)
                self.assertEqual(run.out, "")

    def test_wrong_environment_is_named(self):
        run = self.cairn("ls", self.scratch(), status=cli.USAGE, env={"CAIRN_IO_THREADS": "many"})
        self.assertIn("CAIRN_IO_THREADS", run.err)


class Ending(cli.Case):
    def test_no_mpi_is_linked(self):
        ldd = shutil.which("ldd")
        if ldd is None:
            self.skipTest("no ldd")
        text = subprocess.run([ldd, cli.TOOL], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertIn("libcrypto", text)
        for name in ("libmpi", "libopen-rte", "libpmix", "libcairn"):
            self.assertNotIn(name, text)

    def test_closed_pipe_ends_quietly(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([cli.TOOL, "help"], stdout=write, stderr=subprocess.PIPE, timeout=60)
        os.close(write)
        self.assertEqual(done.stderr, b"")

    def test_full_device_is_status_4(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            run = cli.Run("help", stdout=full)
        self.assertEqual(run.status, cli.IO, run.err)
        self.assertIn("No space left", run.err)

    @cli.needs_fixtures
    def test_more_leaves_than_the_reader_wants(self):
        tool = subprocess.Popen([cli.TOOL, "show", cli.fixture("h01_v1_many3000")],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tool.stdout.readline()
        tool.stdout.close()
        self.assertEqual(tool.stderr.read(), b"")
        tool.stderr.close()
        tool.wait(60)


if __name__ == "__main__":
    cli.main()
