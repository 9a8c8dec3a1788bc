"""tools/check_site.py finds dead links, missing anchors and pictures, and pages that are too far from the start."""

from __future__ import annotations

import itertools
import runpy
from types import SimpleNamespace

import places

CHECK = SimpleNamespace(**runpy.run_path(str(places.ROOT / "tools" / "check_site.py"), run_name="check_site"))


def site(folder, pages):
    for name, body in pages.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"<!doctype html><title>{name}</title>{body}")
    return folder, CHECK.read(folder)


def test_good_links(tmp_path):
    folder, pages = site(
        tmp_path,
        {
            "index.html": '<a href="howto/one.html#here">1</a><a href="#top">up</a><p id="top"><a href="https://a.b/c">x</a>',
            "howto/one.html": '<h1 id="here">1</h1><a href="../index.html">start</a><img src="../one.png">',
        },
    )
    (folder / "one.png").write_bytes(b"")
    assert CHECK.broken(folder, pages) == []


def test_broken_links(tmp_path):
    folder, pages = site(
        tmp_path,
        {
            "index.html": '<a href="two.html">2</a><a href="howto/one.html#there">1</a>',
            "howto/one.html": '<h1 id="here">1</h1><a href="index.html">start</a><img src="one.png">',
        },
    )
    assert CHECK.broken(folder, pages) == [
        "howto/one.html: index.html does not exist",
        "howto/one.html: one.png does not exist",
        "index.html: two.html does not exist",
        "index.html: howto/one.html#there has no such anchor",
    ]


def test_clicks(tmp_path):
    names = ["index.html", "a.html", "b.html", "c.html"]
    _, pages = site(tmp_path, {a: f'<a href="{b}">next</a>' for a, b in itertools.pairwise(names)})
    pages |= CHECK.read(site(tmp_path, {"c.html": ""})[0])
    assert CHECK.clicks(pages) == {"index.html": names[:1], "a.html": names[:2], "b.html": names[:3]}


def test_tasks_are_pages_of_the_documentation():
    for page in CHECK.TASKS.values():
        source = places.ROOT / "docs" / page.replace(".html", ".md")
        assert source.exists() or page == "gallery/index.html"
