"""Folders of the repository that tests read."""

from pathlib import Path

HELPERS = Path(__file__).resolve().parent
TESTS = HELPERS.parent
ROOT = TESTS.parent
# Test modules are in one folder for each subject; some import another's functions.
SUBJECTS = sorted(p for p in HELPERS.iterdir() if any(p.glob("test_*.py")))


def test_module(name: str) -> Path:
    """The file of the test module with this name, such as `test_call`."""
    return next(p for p in (folder / f"{name}.py" for folder in SUBJECTS) if p.exists())
