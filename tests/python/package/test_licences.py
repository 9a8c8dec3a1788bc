"""The wheel's licence files: every library that is linked into the extension has a notice."""

from __future__ import annotations

import re
import tomllib

import pytest

import places

SETTINGS = tomllib.loads((places.ROOT / "pyproject.toml").read_text())["project"]
NOTICES = (places.ROOT / "THIRD_PARTY_NOTICES.txt").read_text(encoding="utf-8")

# The headings in the notices, by the archives that a build links.
LINKED = {
    r"libparpy_\w+\.a": "ParPy itself is under the licence in the file LICENSE",
    r"libnanobind-static\.a": "nanobind\n",
    r"lib(clang|LLVM)\w+\.a": "LLVM and Clang",
    r"libPollyISL\.a": "isl, the Integer Set Library",
    r"libtbb\.so.*": "oneTBB",
    r"libz\.(a|so)": "zlib\n",
    r"libzstd\.(a|so)": "Zstandard\n",
    r"lib(m|dl|pthread|rt|tinfo|xml2)\.(a|so)": "",  # from the system, not in the wheel
}


def linked_libraries() -> set[str]:
    build = places.ROOT / "build/build.ninja"
    if not build.exists():
        pytest.skip("nothing is built")
    of_module = re.search(r"^build \S*_native\.\S*so: .*?(?=^build )", build.read_text(), re.M | re.S)
    assert of_module is not None
    words = re.search(r"LINK_LIBRARIES = (.*)", of_module[0])
    assert words is not None
    return {word.rsplit("/", 1)[-1] for word in words[1].split() if not word.startswith("-")}


def test_all_that_is_linked_has_a_notice():
    libraries = linked_libraries()
    assert {"libPollyISL.a", "libclangCodeGen.a", "libnanobind-static.a"} <= libraries
    for name in libraries:
        headings = [heading for pattern, heading in LINKED.items() if re.fullmatch(pattern, name)]
        assert len(headings) == 1, f"{name} has no entry in THIRD_PARTY_NOTICES.txt"
        assert headings[0] in NOTICES


def test_headers_that_are_compiled_in_have_notices():
    files = [p for folder in ("src", "bindings") for p in (places.ROOT / folder).rglob("*")]
    sources = [p for p in files if p.suffix in (".cpp", ".h")]
    included = {name for p in sources for name in re.findall(r"^#include <([\w.]+)(?:/.*)?>", p.read_text(), re.M)}
    known = {
        "clang": "LLVM and Clang",
        "llvm": "LLVM and Clang",
        "lld": "LLVM and Clang",
        "isl": "isl, the Integer Set Library",
        "nanobind": "nanobind\n",
        "numpy": "NumPy (headers of its C API)",
        "oneapi": "oneTBB",
        "tbb": "oneTBB",
        "xxhash.h": "xxHash",
    }
    system = "Python structmember cpuid cxxabi dirent dlfcn fcntl immintrin link math poll pthread sched semaphore"
    system += " signal stdint ucontext unistd unwind"
    strangers = {name for name in included if "." in name} - known.keys() - {f"{name}.h" for name in system.split()}
    assert not strangers, "declare these in THIRD_PARTY_NOTICES.txt, or here as headers of the system"
    assert {"llvm", "isl", "nanobind", "xxhash.h"} <= included
    assert all(known[name] in NOTICES for name in included & known.keys())


def test_both_files_are_in_the_wheel_and_named_by_the_metadata():
    assert SETTINGS["license-files"] == ["LICENSE", "THIRD_PARTY_NOTICES.txt"]
    assert "ParPy developers" in (places.ROOT / "LICENSE").read_text()
    named = set(re.split(r" AND | OR ", SETTINGS["license"]))
    listed = re.findall(r"^ ?\d+\. .*\n    (.*?); ", NOTICES, re.M)
    assert len(listed) >= 14
    for licence in {each for line in listed for each in line.split(" AND ")} - {"public domain"}:
        assert named & set(licence.split(" OR ")), f"{licence} is missing in 'license' of pyproject.toml"
