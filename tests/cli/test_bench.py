"""The benchmarks run and say what they should; how fast is not judged."""

import json
import os
import shutil
import subprocess
import unittest

import cli

MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


class Bench(cli.Case):
    def bench(self, *args):
        return [json.loads(line) for line in self.cairn("bench", *args, "--json").out.splitlines()]

    def expect(self, line, **members):
        for k, v in members.items():
            self.assertEqual(line.get(k), v, (k, line))

    def test_a_workload_is_saved_and_comes_back(self):
        d = self.scratch()
        saved, = self.bench("save", "--workload", "W0", "--dir", d)
        self.expect(saved, peer="cairn", workload="W0", phase="save", rank=0, ranks=1)
        for k in ("stall_s", "done_s", "total_s", "first_stall_s", "first_done_s"):
            self.assertGreater(saved[k], 0)
        self.assertLessEqual(saved["stall_s"], saved["done_s"])
        self.assertLessEqual(saved["done_s"], saved["total_s"])
        self.assertEqual(os.listdir(d), ["s1"])
        restored, = self.bench("--phase", "restore", "--workload", "W0", "--dir", d)
        self.expect(restored, phase="restore", ok=True)
        self.cairn("verify", os.path.join(d, "s1"))

    def test_snapshot_prints_a_line_for_each_mode(self):
        d = self.scratch()
        lines = self.bench("snapshot", "--bytes", "300000", "--rounds", "2", "--dir", d)
        self.assertLessEqual({"copy", "borrow"}, {line["mode"] for line in lines})
        for line in lines:
            self.expect(line, bench="snapshot", rounds=2, bytes=524288)
            self.assertGreater(line["memcpy_s"], 0)
        self.assertEqual(os.listdir(d), [])

    def test_under_mpirun_every_process_does_its_part(self):
        mpirun = shutil.which("mpirun")
        if mpirun is None or not os.path.exists(os.path.join(os.path.dirname(cli.TOOL), "cairn-bench")):
            self.skipTest("no mpirun, or built without MPI")
        d = self.scratch()
        for phase, ranks in (("save", 2), ("restore", 2)):
            out = subprocess.run(
                [mpirun, "-n", str(ranks), cli.TOOL, "bench", phase, "--workload", "W0", "--dir", d, "--json"],
                stdout=subprocess.PIPE, env={**os.environ, **MPI}, timeout=300, check=True).stdout
            lines = [json.loads(line) for line in out.decode().splitlines() if line.startswith("{")]
            self.assertEqual(sorted((line["rank"], line["ranks"]) for line in lines), [(0, 2), (1, 2)])
        self.assertTrue(all(line["ok"] for line in lines))


if __name__ == "__main__":
    cli.main()
