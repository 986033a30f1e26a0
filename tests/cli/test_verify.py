"""cairn verify: every kind of damage is found, and named where it lies."""

import os
import shutil
import unittest

import cli


class Damage(cli.Case):
    def verify(self, path, status=cli.FOUND):
        return self.cairn("verify", "--json", path, status=status).json

    def files_named(self, got):
        return {d["file"] for d in got["damage"]}


class Bound(Damage):
    """Steps with cairn.json: nothing escapes."""

    def setUp(self):
        self.root = self.saved()
        self.step = os.path.join(self.root, "7")

    def test_clean(self):
        got = self.verify(self.step, cli.FINE)
        self.assertTrue(got["bound"])
        self.assertEqual((got["damaged"], got["damage"]), (0, []))
        files = cli.files_of(self.step)
        self.assertEqual(got["files"], len(files) - 1)  # cairn.json sums itself
        self.assertEqual(got["bytes"], sum(os.path.getsize(os.path.join(self.step, f))
                                           for f in files if f != "cairn.json"))
        self.assertGreaterEqual(got["chunks"], 10)

    def test_clean_for_people(self):
        out = self.cairn("verify", self.root).out
        self.assertIn("no damage", out)
        self.assertNotIn("not covered", out)

    def test_flipped_bit_in_each_file(self):
        for name in cli.files_of(self.step):
            size = os.path.getsize(os.path.join(self.step, name))
            for at in sorted({0, size // 3, size // 2, size - 1}):
                with self.subTest(file=name, at=at):
                    copy = self.copy(self.step)
                    cli.flip(os.path.join(copy, name), at, at % 8)
                    self.assertIn(name, self.files_named(self.verify(copy)))

    def test_every_byte_of_the_binding(self):
        size = os.path.getsize(os.path.join(self.step, "cairn.json"))
        copy = self.copy(self.step)
        path = os.path.join(copy, "cairn.json")
        for at in range(0, size, max(1, size // 40)):
            cli.flip(path, at, 1)
            with self.subTest(at=at):
                self.assertIn("cairn.json", self.files_named(self.verify(copy)))
            cli.flip(path, at, 1)

    def test_truncated_grown_emptied_or_missing_file(self):
        for name in cli.files_of(self.step):
            for what in ("cut", "grown", "emptied", "missing"):
                if name == "cairn.json" and what == "missing":
                    continue  # then it is a step that is not bound
                with self.subTest(file=name, what=what):
                    copy = self.copy(self.step)
                    path = os.path.join(copy, name)
                    if what == "cut":
                        os.truncate(path, os.path.getsize(path) - 1)
                    elif what == "grown":
                        with open(path, "ab") as f:
                            f.write(b"\0")
                    elif what == "emptied":
                        os.truncate(path, 0)
                    else:
                        os.remove(path)
                    self.assertIn(name, self.files_named(self.verify(copy)))

    def test_file_that_is_not_part_of_the_step(self):
        extra = os.path.join(self.step, "default", "extra")
        with open(extra, "w", encoding="utf-8") as f:
            f.write("x")
        (damage,) = self.verify(self.step)["damage"]
        self.assertEqual((damage["file"], damage["item"]), ("default/extra", "default"))
        self.assertIn("not part of the step", damage["text"])

    def test_file_of_another_save(self):
        other = os.path.join(self.saved(), "7")
        for name in ("_CHECKPOINT_METADATA", "default/manifest.ocdbt"):
            copy = self.copy(self.step)
            shutil.copy(os.path.join(other, name), os.path.join(copy, name))
            self.assertIn(name, self.files_named(self.verify(copy)))

    def test_swapped_data_files(self):
        names = [n for n in cli.files_of(self.step) if "/d/" in n]
        self.assertGreaterEqual(len(names), 2)
        a, b = (os.path.join(self.step, n) for n in names[:2])
        os.rename(a, a + ".x")
        os.rename(b, a)
        os.rename(a + ".x", b)
        self.assertLessEqual(set(names[:2]), self.files_named(self.verify(self.step)))

    def test_damaged_chunk_is_named(self):
        copy = self.copy(self.step)
        name = max((n for n in cli.files_of(copy)
                    if n.startswith("default/ocdbt.process_0/d/")),
                   key=lambda n: os.path.getsize(os.path.join(copy, n)))
        cli.flip(os.path.join(copy, name), 5000)
        chunks = [d for d in self.verify(copy)["damage"] if d["chunk"]]
        (damage,) = [d for d in chunks if d["file"] == name]
        self.assertEqual((damage["item"], damage["leaf"]), ("default", "params.w"))
        self.assertLessEqual(damage["offset"], 5000)
        self.assertGreater(damage["offset"] + 5000, 5000)

    def test_binding_of_another_step(self):
        moved = os.path.join(self.root, "8")
        os.rename(self.step, moved)
        (damage,) = self.verify(moved)["damage"]
        self.assertEqual(damage["file"], "cairn.json")
        self.assertIn("step 7", damage["text"])

    def test_copy_under_another_name_is_fine(self):
        kept = os.path.join(self.root, "best")
        os.rename(self.step, kept)
        self.verify(kept, cli.FINE)

    def test_one_item(self):
        item = os.path.join(self.step, "metrics")
        got = self.verify(item, cli.FINE)
        self.assertTrue(got["bound"])
        self.assertEqual(got["files"], len(cli.files_of(item)))
        cli.flip(os.path.join(self.step, "_CHECKPOINT_METADATA"), 5)
        self.verify(item, cli.FINE)
        cli.flip(os.path.join(item, "metrics"), 5)
        self.assertIn("metrics/metrics", self.files_named(self.verify(item)))

    def test_jobs(self):
        self.cairn("verify", "--jobs", "1", self.step)
        self.cairn("verify", "--jobs", "9", self.step)

    def test_damage_for_people_is_a_line_each(self):
        os.remove(os.path.join(self.step, "commit_success.txt"))
        run = self.cairn("verify", self.step, status=cli.FOUND)
        self.assertIn("commit_success.txt: it is missing\n", run.out)
        self.assertIn("1 damaged", run.out)


class BoundOrbaxProfiles(Damage):
    def test_profiles(self):
        for profile in ("orbax", "orbax_v1"):
            step = os.path.join(self.saved(profile), "7")
            self.assertTrue(self.verify(step, cli.FINE)["bound"])
            for name in cli.files_of(step):
                with self.subTest(profile=profile, file=name):
                    path = os.path.join(step, name)
                    at = os.path.getsize(path) * 2 // 3
                    cli.flip(path, at)
                    self.assertIn(name, self.files_named(self.verify(step)))
                    cli.flip(path, at)


class Roots(Damage):
    """Of a root the newest whole step is checked, and what is above it told."""

    def setUp(self):
        self.root = self.saved()
        shutil.copytree(self.saved(step=9) + "/9", os.path.join(self.root, "9"))
        self.saved_file = next(n for n in cli.files_of(self.root)
                               if n.startswith("9/default/d/"))

    def test_nothing_is_passed_over(self):
        got = self.verify(self.root, cli.FINE)
        self.assertEqual((got["step"], got["passed_over"]), (9, []))

    def test_broken_newest_step(self):
        os.remove(os.path.join(self.root, self.saved_file))
        got = self.verify(self.root)
        self.assertEqual((got["step"], got["damaged"]), (7, 0))
        (passed,) = got["passed_over"]
        self.assertEqual((passed["step"], passed["dir"], passed["state"]), (9, "9", "broken"))
        run = self.cairn("verify", self.root, status=cli.FOUND)
        self.assertRegex(run.out, r"(?m)^step 9 is broken: default/d/\w+ is missing; "
                                  r"checked 7 instead$")

    def test_broken_older_step_is_not_looked_at(self):
        os.remove(os.path.join(self.root, "7", "default", "_METADATA"))
        self.verify(self.root, cli.FINE)

    def test_temporary_newest_step_is_no_damage(self):
        os.mkdir(os.path.join(self.root, "11.orbax-checkpoint-tmp"))
        self.verify(self.root, cli.FINE)

    def test_what_is_no_checkpoint_is_not_found_whole(self):
        """One level too high: neither a root, a step nor an item."""
        for above in (os.path.dirname(self.root), self.scratch()):
            run = self.cairn("verify", above, status=cli.ABSENT)
            self.assertIn("neither a root, a step nor an item", run.err)

    def test_step_of_unknown_items_alone_was_not_checked(self):
        step = os.path.join(self.scratch(), "3")
        os.makedirs(os.path.join(step, "mine"))
        for name in ("_CHECKPOINT_METADATA", "mine/data"):
            with open(os.path.join(step, name), "w", encoding="utf-8") as f:
                f.write("{}")
        run = self.cairn("verify", step, status=cli.UNSUPPORTED)
        self.assertIn("nothing was checked", run.out)
        self.assertNotIn("no damage", run.out)


@cli.needs_fixtures
class Unbound(Damage):
    """Steps by Orbax: what the format allows."""

    # What no reader needs: Orbax's own texts.
    FREE = ("commit_success.txt",)

    def test_not_covered_is_said(self):
        out = self.cairn("verify", cli.fixture("b01_mgr_default_item")).out
        self.assertIn("no cairn.json", out)

    def test_each_file_deleted_or_cut(self):
        source = os.path.join(cli.fixture("b02_mgr_metrics_best"), "2")
        # and what no reader goes by: the merged index refers to the data itself
        optional = ("_sharding", "_CHECKPOINT_METADATA", "array_metadatas/process_0",
                    "ocdbt.process_0/manifest.ocdbt")
        for name in cli.files_of(source):
            with self.subTest(file=name):
                copy = self.copy(source)
                path = os.path.join(copy, name)
                os.truncate(path, os.path.getsize(path) // 2)
                self.verify(copy, cli.FINE if name.endswith(self.FREE) else cli.FOUND)
                os.remove(path)
                fine = name.endswith(self.FREE + optional)
                run = cli.Run("verify", "--json", copy)
                self.assertEqual(run.status, cli.FINE if fine else cli.FOUND, run)

    def test_flipped_bits_in_indexes(self):
        source = os.path.join(cli.fixture("b01_mgr_default_item"), "2")
        for name in cli.files_of(source):
            if not name.endswith("manifest.ocdbt") and "/d/" not in name:
                continue
            size = os.path.getsize(os.path.join(source, name))
            copy = self.copy(source)
            path = os.path.join(copy, name)
            for at in range(0, size, max(1, size // 25)):
                with self.subTest(file=name, at=at):
                    cli.flip(path, at)
                    self.assertTrue(self.verify(copy)["damage"])
                    cli.flip(path, at)

    def index_of(self, step):
        (name,) = [n for n in cli.files_of(step) if n.startswith("default/d/")]
        return name

    def check_index_damage(self, step, text):
        """One damage, then the leaves that follow: the fixture's are n, step, w
        (expect.json), all in the one node of the merged database."""
        name = self.index_of(cli.fixture("b01_mgr_default_item") + "/2")
        first, *rest = self.verify(step)["damage"]
        self.assertEqual((first["file"], first["offset"], first["leaf"]), (name, 0, ""))
        self.assertNotIn("follows", first)
        self.assertRegex(first["text"], text)
        self.assertEqual([d["leaf"] for d in rest], ["n", "step", "w"])
        self.assertTrue(all(d["follows"] for d in rest))
        lines = self.cairn("verify", step, status=cli.FOUND).out.splitlines()
        self.assertRegex(lines[0], f"^{name} at 0, item default: {text[1:]}")
        self.assertEqual(lines[1], "  so these leaves cannot be read: n, step, w")
        self.assertTrue(lines[2].endswith(": 1 damaged"), lines)

    def test_bad_node_is_told_once_with_its_leaves(self):
        copy = self.copy(os.path.join(cli.fixture("b01_mgr_default_item"), "2"))
        cli.flip(os.path.join(copy, self.index_of(copy)), 100)
        self.check_index_damage(copy, "^b-tree node: checksum [0-9a-f]{8}, want [0-9a-f]{8}$")

    def test_lost_index_file_is_told_once_by_its_name(self):
        copy = self.copy(os.path.join(cli.fixture("b01_mgr_default_item"), "2"))
        os.remove(os.path.join(copy, self.index_of(copy)))
        self.check_index_damage(copy, "^309 bytes: there is no such file$")

    def test_bad_manifest_is_told_once(self):
        copy = self.copy(os.path.join(cli.fixture("b01_mgr_default_item"), "2"))
        cli.flip(os.path.join(copy, "default", "manifest.ocdbt"), 50)
        first, second = self.verify(copy)["damage"]
        self.assertEqual((first["file"], first["leaf"]), ("default/manifest.ocdbt", ""))
        self.assertEqual((second["follows"], second["leaf"]), (True, ""))

    def test_unreadable_step_metadata_does_not_affect_restores(self):
        for step in os.listdir(cli.fixture("j02_empty_checkpoint_metadata")):
            path = os.path.join(cli.fixture("j02_empty_checkpoint_metadata"), step)
            for d in cli.Run("verify", "--json", path).json["damage"]:
                self.assertEqual(d["file"], "_CHECKPOINT_METADATA")
                self.assertIn("restores are not affected", d["text"])
                self.cairn("show", "--hash", path)

    def test_incomplete_steps_are_found_so(self):
        got = self.verify(os.path.join(cli.fixture("j01_interrupted_saves"),
                                       "2.orbax-checkpoint-tmp"))
        self.assertTrue(got["damage"])

    def test_loose_chunk(self):
        copy = self.copy(cli.fixture("c01_v0_loose_zarr2"))
        (leaf, chunk) = next((os.path.dirname(n), os.path.basename(n)) for n in cli.files_of(copy)
                             if n.endswith("/0.0"))
        os.remove(os.path.join(copy, leaf, chunk))
        (damage,) = self.verify(copy)["damage"]
        self.assertEqual((damage["leaf"], damage["chunk"]), (leaf, chunk))


if __name__ == "__main__":
    cli.main()
