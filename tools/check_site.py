"""Checks a built documentation site. Links, anchors and pictures exist, typical tasks are two clicks from the start
page. In a headless browser no page has a script error or is wider than its window, and searches have results.

usage: python tools/check_site.py FOLDER
"""

from __future__ import annotations

import functools
import http.server
import posixpath
import shutil
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

# The tasks that users look for, and the page of each.
TASKS = {
    "run this Numba function": "coming_from/numba.html",
    "find why this loop is refused": "howto/refused_loops.html",
    "use two cores only": "howto/cores.html",
    "see the generated CUDA": "howto/text.html",
    "list which NumPy functions work": "reference/numpy.html",
    "use an array of PyTorch": "howto/arrays.html",
    "find a wrong subscript or a race": "howto/checking.html",
    "map a loop to blocks and threads": "howto/mapping.html",
    "understand the message P401": "reference/diagnostics.html",
    "write a kernel with shared memory": "howto/kernels.html",
    "use a function under torch.compile": "howto/other_libraries.html",
    "share a call among ranks of MPI": "howto/scale.html",
    "report a fault": "howto/at_work.html",
    "install ParPy": "tutorial/install.html",
    "see a whole program": "gallery/index.html",
}
WINDOWS = ((1400, 1000), (390, 800))
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


class Page(HTMLParser):
    """The links, anchors and addresses of pictures and scripts of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.parts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name == "href" and tag == "a":
                self.links.append(value)
            elif (name == "src" or (name == "href" and tag == "link")) and not value.startswith("data:"):
                self.parts.append(value)


def read(site: Path) -> dict[str, Page]:
    paths = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    return {str(path.relative_to(site)): Page(path) for path in paths}


def targets(name: str, page: Page, addresses: list[str]) -> Iterator[tuple[str, str, str]]:
    """Address, file and anchor of those links that lead into the site."""
    for address in addresses:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        file = posixpath.normpath(posixpath.join(posixpath.dirname(name), urllib.parse.unquote(parts.path)))
        yield address, file if parts.path else name, urllib.parse.unquote(parts.fragment)


def broken(site: Path, pages: dict[str, Page]) -> list[str]:
    found = []
    for name, page in pages.items():
        for address, file, anchor in targets(name, page, page.links + page.parts):
            if not (site / file).exists():
                found.append(f"{name}: {address} does not exist")
            elif anchor and file in pages and anchor not in pages[file].anchors:
                found.append(f"{name}: {address} has no such anchor")
    return found


def clicks(pages: dict[str, Page], start: str = "index.html") -> dict[str, list[str]]:
    """The pages that are at most two clicks from the start, each with the path to it."""
    ways, edge = {start: [start]}, [start]
    for _ in range(2):
        reached = []
        for name in edge:
            for _, file, _ in targets(name, pages[name], pages[name].links):
                if file in pages and file not in ways:
                    ways[file] = [*ways[name], file]
                    reached.append(file)
        edge = reached
    return ways


@contextmanager
def served(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Ignores the errors of a browser that leaves a page before its pictures are loaded."""

    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def seen_in_browser(site: Path, pages: dict[str, Page]) -> list[str] | None:
    """The script errors, and the pages that are wider than their window. None if there is no browser."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError:
        return None
    if browser is None:
        return None
    found: list[str] = []
    with served(site) as address, sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for width, height in WINDOWS:
            view = opened.new_page(viewport={"width": width, "height": height})
            view.on("pageerror", lambda error, view=view: found.append(f"{view.url}: {error}"))
            view.on(
                "console", lambda m, view=view: found.append(f"{view.url}: {m.text}") if m.type == "error" else None
            )
            view.on("requestfailed", lambda r: found.append(f"{r.url} is not loaded"))
            for name in pages:
                try:
                    view.goto(f"{address}/{name}", wait_until="load")
                except Error as error:
                    found.append(f"{name}: {error}")
                if view.evaluate("document.documentElement.scrollWidth") > width:
                    found.append(f"{name}: wider than a window of {width} pixels")
        view = opened.new_page()
        view.goto(f"{address}/search.html?q=threads")
        try:
            view.wait_for_selector("#search-results li a", timeout=20_000)
        except Error:
            found.append("the search finds nothing about threads")
        opened.close()
    return found


def main(site: Path) -> int:
    pages = read(site)
    ways = clicks(pages)
    faults = broken(site, pages)
    faults += [f"no way of two clicks: {task} ({page})" for task, page in TASKS.items() if page not in ways]
    seen = seen_in_browser(site, pages)
    for line in faults + (seen or []):
        print(line)
    if "--ways" in sys.argv:
        for task, page in TASKS.items():
            print(f"{task}: {' > '.join(ways.get(page, []))}")
    print(f"{len(pages)} pages" + (", not looked at in a browser: there is none" if seen is None else ""))
    return 1 if faults or seen else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
