"""Malformed IR text gives an error with any flags: parpy-opt never crashes. Mutates the golden files."""

from __future__ import annotations

import random
import re
import shlex
import subprocess

import pytest

from test_golden import golden

WORDS = re.compile(r"\w+|\s+|[^\w\s]")
REQUESTS = [
    ["--pipeline", "cpu"],
    ["--pipeline", "cuda"],
    ["--emit", "cpu"],
    ["--emit", "cuda"],
    ["--eval", "--steps", "1000000"],
    [],
]
ERROR, MISUSE = 1, 2


def run(command: list[str], text: str) -> tuple[int, str]:
    """Exit status and output; an evaluation may also be endless, which is not a fault."""
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=900, check=False)
    except subprocess.TimeoutExpired:
        assert "--eval" in command
        return 0, ""
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def programs() -> list[tuple[str, list[str]]]:
    """The text of each golden file and the flags it is run with."""
    found = []
    for file in sorted(golden.GOLDEN.rglob("*.ir")):
        text = file.read_text().split("# ---- expected")[0]
        flags = re.search(r"# RUN: parpy-opt ?(.*)", text)
        found.append((text, shlex.split(flags[1]) if flags else []))
    return found


def mutated(text: str, source: random.Random, words: list[str]) -> str:
    parts = WORDS.findall(text)
    for _ in range(source.choice([1, 1, 1, 2, 4])):
        i, j = source.randrange(len(parts)), source.randrange(len(parts))
        match source.randrange(5):
            case 0:
                parts[i] = source.choice(words)
            case 1:
                parts[i] = ""
            case 2:
                parts.insert(i, source.choice(words))
            case 3:
                parts[i], parts[j] = parts[j], parts[i]
            case 4:
                lines = "".join(parts).split("\n")
                del lines[source.randrange(len(lines))]
                parts = WORDS.findall("\n".join(lines)) or [" "]
    return "".join(parts)


@pytest.mark.parametrize("seed", range(4))
def test_mutated_programs_never_crash(seed):
    binary = golden.find_parpy_opt()
    if binary is None:
        pytest.skip("parpy-opt is not built")
    source = random.Random(seed)
    texts = programs()
    words = [word for text, _ in texts for word in WORDS.findall(text) if word.strip()]
    for _ in range(60):
        text, flags = source.choice(texts)
        broken = mutated(text, source, words)
        request = flags if source.random() < 0.6 else source.choice(REQUESTS)
        status, said = run([str(binary), *request, "-"], broken)
        assert status in (0, ERROR, MISUSE), f"{request} on\n{broken}\n{said}"


def test_the_text_is_verified_before_anything_runs():
    binary = golden.find_parpy_opt()
    if binary is None:
        pytest.skip("parpy-opt is not built")
    text = "entry f(x: f64[4, 4] @0, y: f64[4] @1 written) -> void:\n    y[:] = reduce(sum, x[:], -2)\n"
    status, said = run([str(binary), "--pass", "lower-slices", "-"], text)
    assert status == ERROR
    assert "P901" in said
    assert "array 'x' has 1 subscripts" in said
