"""cairn ls, and what a PATH means."""

import os
import shutil
import unittest

import cli


def state_of(run):
    return [(s["step"], s["state"], s["dir"]) for s in run.json["steps"]]


@cli.needs_fixtures
class Roots(cli.Case):
    def ls(self, name):
        return self.cairn("ls", "--json", cli.fixture(name))

    def test_steps_by_number(self):
        self.assertEqual(state_of(self.ls("b01_mgr_default_item")),
                         [(1, "complete", "1"), (2, "complete", "2"), (10, "complete", "10")])

    def test_prefix_and_fixed_length(self):
        self.assertEqual(state_of(self.ls("b04_mgr_prefix_fixed")),
                         [(0, "complete", "ckpt_000000"), (42, "complete", "ckpt_000042"),
                          (1234567, "complete", "ckpt_1234567")])

    def test_commit_file_mode_step_without_its_mark(self):
        run = self.ls("b06_mgr_commit_file_mode")
        self.assertEqual(state_of(run), [(3, "complete", "3"), (8, "complete", "8"),
                                         (9, "unmarked", "9")])
        self.assertIn("commit_success.txt", run.json["steps"][2]["why"])

    def test_interrupted_saves_are_temporary(self):
        self.assertEqual(state_of(self.ls("j01_interrupted_saves")),
                         [(1, "complete", "1"), (2, "temporary", "2.orbax-checkpoint-tmp"),
                          (3, "temporary", "3.orbax-checkpoint-tmp")])

    def test_metadata_empty_absent_or_cut_is_no_harm(self):
        self.assertEqual([s for _, s, _ in state_of(self.ls("j02_empty_checkpoint_metadata"))],
                         ["complete"] * 4)

    def test_releases_that_never_marked_are_complete(self):
        for release in ("0_5_0", "0_6_4", "0_11_30"):
            run = self.ls("l_orbax_" + release)
            self.assertEqual(state_of(run), [(1, "complete", "1"), (2, "complete", "2")])
            self.assertEqual(run.json["steps"][0]["items"], ["cfg", "metrics", "state"])

    def test_bytes_are_those_of_the_files(self):
        root = cli.fixture("b02_mgr_metrics_best")
        for step in self.ls("b02_mgr_metrics_best").json["steps"]:
            folder = os.path.join(root, step["dir"])
            self.assertEqual(step["bytes"], sum(os.path.getsize(os.path.join(folder, f))
                                                for f in cli.files_of(folder)))

    def test_commit_time_is_the_metadata_s(self):
        (step,) = self.ls("b05_mgr_json_only").json["steps"]
        import json
        with open(os.path.join(cli.fixture("b05_mgr_json_only"), "1", "_CHECKPOINT_METADATA"),
                  encoding="utf-8") as f:
            self.assertEqual(step["commit_ns"], json.load(f)["commit_timestamp_nsecs"])

    def test_table_for_people_in_local_time(self):
        run = self.cairn("ls", cli.fixture("b05_mgr_json_only"), env={"TZ": "XYZ-3"})
        head, line = run.out.splitlines()
        self.assertEqual(head.split(), ["STEP", "STATE", "SIZE", "COMMITTED", "ITEMS"])
        self.assertRegex(line, r"^1 +complete +\d+ B +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0300 +meta$")

    def test_other_directories_and_trash_are_passed_over(self):
        root = self.copy(cli.fixture("b01_mgr_default_item"))
        for name in ("metadata", "_SNAPSHOTS", ".cairn-trash-7", "notes", "ckpt_5", "x7"):
            os.mkdir(os.path.join(root, name))
            with open(os.path.join(root, name, "file"), "w", encoding="utf-8") as f:
                f.write("x")
        with open(os.path.join(root, "12"), "w", encoding="utf-8") as f:
            f.write("a file is no step")
        self.assertEqual([n for n, _, _ in state_of(self.cairn("ls", "--json", root))],
                         [1, 2, 10])

    def test_broken_steps_say_what_is_missing(self):
        root = self.copy(cli.fixture("b01_mgr_default_item"))
        os.remove(os.path.join(root, "10", "default", "manifest.ocdbt"))
        os.remove(os.path.join(root, "2", "default", "_METADATA"))
        os.mkdir(os.path.join(root, "11"))
        steps = {s["step"]: s for s in self.cairn("ls", "--json", root).json["steps"]}
        self.assertEqual(steps[10]["state"], "broken")
        self.assertIn("manifest.ocdbt", steps[10]["why"])
        self.assertEqual(steps[2]["state"], "broken")
        self.assertIn("_METADATA", steps[2]["why"])
        self.assertEqual(steps[1]["state"], "complete")
        self.assertEqual(steps.get(11, {"state": "broken"})["state"], "broken")


@cli.needs_fixtures
class Paths(cli.Case):
    def step_of(self, path):
        return self.cairn("show", "--json", path).json["step"]

    def test_root_is_its_newest_complete_step(self):
        self.assertEqual(self.step_of(cli.fixture("b01_mgr_default_item")), 10)
        self.assertEqual(self.step_of(cli.fixture("b06_mgr_commit_file_mode")), 8)
        self.assertEqual(self.step_of(cli.fixture("j01_interrupted_saves")), 1)

    def test_newest_is_the_largest_number_that_is_whole(self):
        root = self.copy(cli.fixture("b01_mgr_default_item"))
        os.remove(os.path.join(root, "10", "default", "manifest.ocdbt"))
        self.assertEqual(self.step_of(root), 2)

    def test_item_opens_only_that_item_of_its_step(self):
        got = self.cairn("show", "--json",
                         os.path.join(cli.fixture("b02_mgr_metrics_best"), "2", "metrics")).json
        self.assertEqual((got["step"], list(got["items"])), (2, ["metrics"]))

    def test_item_of_a_step_without_any_file_of_its_own(self):
        got = self.cairn("show", "--json",
                         os.path.join(cli.fixture("l_orbax_0_5_0"), "2", "state")).json
        self.assertEqual((got["step"], list(got["items"])), (2, ["state"]))

    def test_bare_item_directory(self):
        item = os.path.join(self.scratch(), "moved")
        shutil.copytree(os.path.join(cli.fixture("b01_mgr_default_item"), "2", "default"), item)
        got = self.cairn("show", "--json", item).json
        self.assertEqual((got["step"], list(got["items"])), (None, [""]))
        self.assertEqual(len(got["items"][""]["leaves"]), 3)

    def test_url_and_trailing_slash(self):
        path = cli.fixture("b01_mgr_default_item")
        self.assertEqual(self.step_of("file://" + path + "/2"), 2)
        self.assertEqual(self.step_of(path + "/2/"), 2)

    def test_relative_path(self):
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(cli.fixture("b01_mgr_default_item"))
        self.assertEqual(self.step_of("2"), 2)
        self.assertEqual(self.step_of("."), 10)

    def test_temporary_and_unfinished_steps_do_not_open(self):
        root = cli.fixture("j01_interrupted_saves")
        run = self.cairn("show", os.path.join(root, "3.orbax-checkpoint-tmp"), status=cli.FOUND)
        self.assertIn("temporary", run.err)


class NoRoot(cli.Case):
    def test_not_there(self):
        self.cairn("ls", os.path.join(self.scratch(), "none"), status=cli.ABSENT)
        self.cairn("show", os.path.join(self.scratch(), "none", "7"), status=cli.ABSENT)

    def test_empty_directory(self):
        folder = self.scratch()
        self.assertEqual(self.cairn("ls", "--json", folder).json["steps"], [])
        self.assertEqual(self.cairn("ls", folder).out, "no steps\n")
        os.mkdir(os.path.join(folder, ".cairn-trash-7"))
        os.mkdir(os.path.join(folder, "metadata"))
        self.assertEqual(self.cairn("ls", folder).out, "no steps\n")
        self.cairn("show", folder, status=cli.ABSENT)

    def test_unrelated_directory(self):
        folder = self.scratch()
        with open(os.path.join(folder, "notes.txt"), "w", encoding="utf-8") as f:
            f.write("x")
        for command in ("ls", "show", "verify"):
            run = self.cairn(command, folder, status=cli.ABSENT)
            self.assertIn("neither a root, a step nor an item", run.err)
            self.assertEqual(run.out, "")
        os.mkdir(os.path.join(folder, "sources"))
        os.rename(os.path.join(folder, "notes.txt"), os.path.join(folder, "sources", "notes.txt"))
        for command in ("ls", "show", "verify"):
            self.cairn(command, folder, status=cli.ABSENT)

    def test_directory_of_roots(self):
        """Named like a step, but there is no item in it."""
        above = self.scratch()
        shutil.move(self.saved(), os.path.join(above, "run"))
        self.cairn("ls", above, status=cli.ABSENT)
        os.rename(os.path.join(above, "run"), os.path.join(above, "run_1"))
        (step,) = self.cairn("ls", "--json", above).json["steps"]
        self.assertEqual(step["state"], "broken")
        self.cairn("show", above, status=cli.ABSENT)

    def test_file(self):
        file = os.path.join(self.scratch(), "f")
        with open(file, "w", encoding="utf-8") as f:
            f.write("x")
        self.cairn("ls", file, status=cli.ABSENT)
        self.cairn("show", os.path.join(file, "7"), status=cli.ABSENT)

    def test_no_step_is_whole(self):
        root = self.scratch()
        os.makedirs(os.path.join(root, "5", "default"))
        with open(os.path.join(root, "5", "default", "manifest.ocdbt"), "wb"):
            pass
        run = self.cairn("show", root, status=cli.ABSENT)
        self.assertIn("_METADATA", run.err)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_unreadable(self):
        root = self.scratch()
        os.chmod(root, 0)
        self.addCleanup(os.chmod, root, 0o700)
        self.cairn("ls", root, status=cli.IO)


if __name__ == "__main__":
    cli.main()
