"""What all oracle tests share. JAX gets the 8 devices that meshes name."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import pytest  # noqa: E402  (after the environment is set)

import checkpoints  # noqa: E402


SKIPPED = 77  # as ctest knows it


def pytest_sessionfinish(session, exitstatus):
    """A run in which everything was skipped did not succeed (5: whole files)."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    done = reporter.stats if reporter else {}
    if exitstatus in (0, 5) and done.get("skipped") and not done.get("passed"):
        session.exitstatus = SKIPPED


@pytest.fixture(scope="session")
def tool():
    """oracle_tool is there."""
    path = os.environ.get("CAIRN_ORACLE_TOOL")
    if not path or not os.path.exists(path):
        pytest.skip("CAIRN_ORACLE_TOOL names no oracle_tool: a build without MPI?")
    return path


@pytest.fixture(scope="session")
def made():
    """The directory of what Orbax saved (orbax_make.py)."""
    return checkpoints.directory()


@pytest.fixture(scope="session")
def fixtures():
    """Checkpoints by real Orbax, made elsewhere and kept outside the repository."""
    path = os.path.join(os.environ.get("CAIRN_FIXTURES", ""), "orbax")
    if not os.path.isdir(path):
        pytest.skip(f"no {path}")
    return path
