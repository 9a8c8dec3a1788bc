"""The folder of the disk cache in every state that others can cause: results are right, the user is warned once, and
files that the cache did not make are not changed."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PROGRAM = """
import json, sys, warnings
import numpy as np, parpy

@parpy.jit
def f(x, n):
    for i in range(n):
        x[i] = x[i] * 2 + n

@parpy.jit
def g(x):
    x[:] = x + 1.0

def run(opts):
    x = np.arange(5.0)
    f(x, 5, opts=opts)
    g(x, opts=opts)
    assert x.tolist() == [6, 8, 10, 12, 14], x

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for word in sys.argv[1:]:
        if word == "clear":
            parpy.clear_cache()
        else:
            run(parpy.CompileOptions(backend=getattr(parpy.CompileBackend, word)))
told = [(str(w.message), w.category.__name__, w.filename) for w in caught]
print(json.dumps([each for each in told if "P316" not in each[0]]))  # nothing is mapped
"""

ROOT = os.geteuid() == 0
NOBODY = 65534
as_root = pytest.mark.skipif(not ROOT, reason="only root may give files to others")


@pytest.fixture
def place():
    path = Path(tempfile.mkdtemp(prefix="parpy-test-"))
    (path / "program.py").write_text(PROGRAM)
    yield path
    for folder in path.rglob("*"):
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(0o700)
    shutil.rmtree(path)


def run(place: Path, *words: str, before: tuple[str, ...] = (), cache: str = "cache", **popen) -> list[list[str]]:
    """The warnings of a process that computes, empties its cache and computes again."""
    environment = {**os.environ, "PARPY_CACHE_DIR": str(place / cache), "PARPY_CACHE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    environment |= popen.pop("environment", {})
    command = [*before, sys.executable, str(place / "program.py"), *(words or ("Cpu", "Sim", "clear", "Cpu"))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, **popen)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def snapshot(path: Path) -> dict[str, tuple]:
    """The visible state of all files below ``path``."""
    found = {}
    for entry in [path, *path.rglob("*")]:
        status = entry.lstat()
        what: object = None
        if stat.S_ISREG(status.st_mode):
            what = entry.read_bytes()
        elif stat.S_ISLNK(status.st_mode):
            what = os.readlink(entry)
        found[str(entry)] = (status.st_mode, status.st_uid, status.st_ino, status.st_nlink, what)
    return found


def users(folder: Path) -> Path:
    """A folder of the user, in which some names are like the cache's own."""
    for name in ("00/cpu-" + "0" * 32, "00/12-3.tmp", "notes/important", "thesis"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"mine" * 10_000)
        os.utime(file, (1, 1))
    folder.chmod(0o755)
    return folder


def entries(cache: Path) -> list[Path]:
    return [file for file in (cache / "v1").glob("??/*-*") if len(file.name.rpartition("-")[2]) == 32]


# ---------------------------------------------------------------- states


def linked_cache(cache: Path) -> str:
    cache.symlink_to(users(cache.parent / "mine"))
    return "it is a link"


def dangling_cache(cache: Path) -> str:
    cache.symlink_to(cache.parent / "nowhere")
    return "it is a link"


def linked_version(cache: Path) -> str:
    cache.mkdir()
    cache.chmod(0o777)
    (cache / "v1").symlink_to(users(cache.parent / "mine"))
    return "it is a link"


def version_linked_to_what_looks_like_a_cache(cache: Path) -> str:
    users(cache.parent / "mine")
    shutil.rmtree(cache.parent / "mine" / "notes")
    (cache.parent / "mine" / "thesis").unlink()
    cache.mkdir()
    (cache / "v1").symlink_to(cache.parent / "mine")
    return "it is a link"


def linked_groups(cache: Path) -> str:
    (cache / "v1").mkdir(parents=True)
    (cache / "v1").chmod(0o700)
    (cache / "v1/CACHEDIR.TAG").write_bytes(tag(cache.parent))
    for i in range(256):
        (cache / f"v1/{i:02x}").symlink_to(users(cache.parent / "mine"))
    return "it is a link"


def entries_replaced(cache: Path, make) -> str:
    run(cache.parent, "Cpu", "Sim")
    for entry in entries(cache):
        entry.unlink()
        make(entry)
    return "a file is there that ParPy did not make"


def linked_entries(cache: Path) -> str:
    target = users(cache.parent / "mine") / "thesis"
    return entries_replaced(cache, lambda entry: entry.symlink_to(target))


def pipes_for_entries(cache: Path) -> str:
    return entries_replaced(cache, os.mkfifo)


def folders_for_entries(cache: Path) -> str:
    return entries_replaced(cache, users)


def file_for_cache(cache: Path) -> str:
    cache.write_text("mine")
    return "it is not a folder"


def pipe_for_version(cache: Path) -> str:
    cache.mkdir()
    os.mkfifo(cache / "v1")
    return "it is not a folder"


def file_above(cache: Path) -> str:
    cache.parent.joinpath("file").write_text("mine")
    return "not a directory"


def foreign_files(cache: Path) -> str:
    users(cache / "v1").chmod(0o700)
    return "it holds files that ParPy did not make"


def another_programs_tag(cache: Path) -> str:
    (cache / "v1").mkdir(parents=True, mode=0o700)
    (cache / "v1/CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n# of another program\n")
    return "it holds files that ParPy did not make"


def open_to_all(cache: Path) -> str:
    run(cache.parent, "Cpu", "Sim")
    (cache / "v1").chmod(0o777)
    return "other users may write to it"


def tag(place: Path) -> bytes:
    """The content of the file that marks the cache's folder."""
    run(place, "Cpu", cache="another")
    text = (place / "another/v1/CACHEDIR.TAG").read_bytes()
    shutil.rmtree(place / "another")
    return text


STATES = [
    linked_cache,
    dangling_cache,
    linked_version,
    version_linked_to_what_looks_like_a_cache,
    linked_groups,
    linked_entries,
    pipes_for_entries,
    folders_for_entries,
    file_for_cache,
    pipe_for_version,
    file_above,
    foreign_files,
    another_programs_tag,
    open_to_all,
]


@pytest.mark.parametrize("bound", ["1000000", "100"])
@pytest.mark.parametrize("prepare", STATES)
def test_what_the_cache_did_not_make_stays_as_it_is(place, prepare, bound):
    cache = "file/cache" if prepare is file_above else "cache"
    words = prepare(place / "cache")
    before = snapshot(place)
    told = run(place, cache=cache, environment={"PARPY_CACHE_SIZE": bound})
    assert snapshot(place) == before
    [[message, category, file]] = told
    assert words in message
    assert message.startswith(f"compiled code is not kept in '{place}/")
    assert (category, file) == ("ConfigurationWarning", str(place / "program.py"))


@as_root
@pytest.mark.parametrize("what", ["cache", "cache/v1", "group", "entry"])
def test_what_belongs_to_others_is_not_used(place, what):
    run(place, "Cpu", "Sim")
    [*some] = entries(place / "cache")
    assert some
    given = {"group": {e.parent for e in some}, "entry": some}.get(what, [place / what])
    for path in given:
        os.chown(path, NOBODY, NOBODY)
    before = snapshot(place)
    [[message, _, _]] = run(place)
    assert ("a file is there that ParPy did not make" if what == "entry" else "belongs to another user") in message
    assert snapshot(place) == before


def test_folders_that_all_may_write_to_can_hold_the_cache(place):
    (place / "cache").mkdir()
    (place / "cache").chmod(0o777)
    assert run(place, "Cpu") == []
    assert (place / "cache/v1").stat().st_mode & 0o777 == 0o700
    assert entries(place / "cache")


def obey_permissions() -> None:
    """Removes the capabilities by which root's next program ignores permissions."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
            raise PermissionError


@pytest.mark.parametrize("mode", [0o000, 0o500, 0o300, 0o600])
@pytest.mark.parametrize("where", [".", "v1"])
def test_folders_without_permission(place, mode, where):
    folder = place / "cache" / where
    folder.mkdir(parents=True)
    for made in (place / "cache", folder):
        made.chmod(0o700)
    folder.chmod(mode)
    obey = obey_permissions if ROOT else None
    try:
        subprocess.run(["true"], preexec_fn=obey)
    except subprocess.SubprocessError:
        pytest.skip("nothing may be taken from root here")
    [[message, _, _]] = run(place, preexec_fn=obey)
    assert "permission denied" in message
    folder.chmod(0o700)
    assert list(folder.iterdir()) == []


def on_small_disk(place: Path, options: str) -> list[list[str]]:
    """The warnings if the cache's folder is a file system of its own."""
    (place / "cache").mkdir()
    mount = f'mount -t tmpfs -o {options} tmpfs "{place}/cache" && exec "$0" "$@"'
    before = ("unshare", "-m" if ROOT else "-rm", "sh", "-c", mount)
    if not shutil.which("unshare") or subprocess.run([*before, "true"], capture_output=True).returncode != 0:
        pytest.skip("only root may mount")
    return run(place, before=before)


def test_full_disk(place):
    [[message, _, _]] = on_small_disk(place, "size=4k")
    assert "no space left on device" in message


def test_full_disk_without_room_for_folders(place):
    [[message, _, _]] = on_small_disk(place, "nr_inodes=2")
    assert "no space left on device" in message


def test_disk_that_is_only_read(place):
    [[message, _, _]] = on_small_disk(place, "ro")
    assert "read-only file system" in message


@pytest.mark.parametrize("room", [0, 10, 1000])
def test_writes_that_fail_half_way_leave_nothing(place, room):
    [[message, _, _]] = run(place, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    assert "file too large" in message
    assert [file for file in place.rglob("*") if file.is_file() and file.name != "CACHEDIR.TAG"] == [
        place / "program.py"
    ]


def test_a_warning_may_be_an_error(place):
    linked_version(place / "cache")
    program = place / "program.py"
    program.write_text(PROGRAM.replace('"always"', '"error"'))
    with pytest.raises(
        AssertionError, match=r"ConfigurationWarning: compiled code is not kept in '.*/v1': it is a link"
    ):
        run(place)


@pytest.mark.parametrize("content", [b"", b"x" * 100, None])
def test_damaged_entries_are_built_again_without_a_word(place, content):
    run(place, "Cpu", "Sim")
    whole = {entry: entry.stat().st_size for entry in entries(place / "cache")}
    assert whole
    for entry in whole:
        if content is None:  # more than any memory holds
            with entry.open("r+b") as file:
                file.seek(8)
                file.write((2**42 - 32).to_bytes(8, "little"))
                file.truncate(2**42)
        else:
            entry.write_bytes(content)
    assert run(place, "Cpu", "Sim") == []
    assert {entry: entry.stat().st_size for entry in entries(place / "cache")} == whole


def test_the_folder_of_the_cache_is_named_by_its_full_path(place):
    program = place / "program.py"
    program.write_text(f"import os\nos.chdir({str(place)!r})\n" + PROGRAM)
    (place / "file").write_text("mine")
    [[message, _, _]] = run(place, environment={"PARPY_CACHE_DIR": "file"}, cwd=place)
    assert f"'{place}/file'" in message
    assert run(place, "Cpu", environment={"PARPY_CACHE_DIR": "./"}, cwd=place) == []
    assert entries(place)


@pytest.mark.parametrize("ending", ["/", "/.", "//./"])
def test_a_link_with_a_slash_behind_it_is_a_link(place, ending):
    words = linked_cache(place / "cache")
    before = snapshot(place)
    [[message, _, _]] = run(place, cache="cache" + ending)
    assert words in message
    assert snapshot(place) == before
