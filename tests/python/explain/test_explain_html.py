"""parpy.explain's HTML in a real browser, if there is one: on a light and on a dark page, without a network."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import parpy
from parpy import CompileBackend

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs a browser: apt-get install chromium-headless-shell")

EVIL = "<img src=http://example.invalid/x.png onerror=alert(1)><script>document.title=1</script>&amp;</div>"

PAGE = """<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-test'">
<script nonce="test">
const problems = [];
document.addEventListener('securitypolicyviolation', e => problems.push(e.violatedDirective + ' ' + e.blockedURI));
addEventListener('error', e => problems.push(String(e.message)), true);
</script></head><body>
<section id="light" style="background: #fff; color: #1a1a1a">TREE</section>
<section id="dark" style="background: #111; color: #e8e8e8">TREE</section>
<pre id="found"></pre><script nonce="test">
// The contrast of WCAG between the text of an element and what it stands on.
function contrast(element) {
    const parts = text => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
        .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    let ground = element;
    while (parts(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
    const [a, b] = [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor].map(parts).map(light);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
function facts(section) {
    const seen = element => element.checkVisibility({opacityProperty: true, visibilityProperty: true})
        && element.getBoundingClientRect().height > 0;
    const nodes = [...section.querySelectorAll('details')];
    const verdicts = [...section.querySelectorAll('summary b')];
    const outermost = nodes[0].querySelector('summary');
    const states = [];
    for (let i = 0; i < 3; ++i) {
        states.push(verdicts.map(seen));
        outermost.click();
    }
    return {
        verdicts: verdicts.map(v => v.textContent), states,
        contrasts: [...section.querySelectorAll('*')].map(contrast),
        depths: nodes.map(n => { let d = 0; for (let p = n; p = p.parentElement.closest('details');) ++d; return d; }),
        loops: nodes.map(n => n.querySelector('summary span').textContent),
        text: section.textContent, wide: section.scrollWidth - section.clientWidth,
        tags: [...new Set([...section.querySelectorAll('*')].map(e => e.tagName.toLowerCase()))].sort(),
    };
}
const all = Object.fromEntries(['light', 'dark'].map(name => [name, facts(document.getElementById(name))]));
const requests = performance.getEntriesByType('resource').map(entry => entry.name);
setTimeout(() => {
    const found = {...all, problems, requests, title: document.title};
    document.getElementById('found').textContent = JSON.stringify(found);
}, 50);
</script></body></html>"""


@parpy.jit
def sweeps(a, b, steps, n):
    for t in range(steps):
        parpy.label(
            "<img src=http://example.invalid/x.png onerror=alert(1)><script>document.title=1</script>&amp;</div>"
        )
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i + 1]) / 2
        for i in range(1, n - 1):
            a[i] = b[i] if a[i] < 1 and b[i] > 0 else 0
    for i in range(n):
        a[i % 3] += b[i]


def shown(explanation, folder):
    """The facts that the browser finds on the page, and the messages on its console."""
    page = folder / "page.html"
    page.write_text(PAGE.replace("TREE", explanation._repr_html_()))
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--dump-dom",
        "--virtual-time-budget=2000",
    ]
    done = subprocess.run(
        [*command, "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}", page.as_uri()],
        capture_output=True, text=True, timeout=900, check=True,
    )  # fmt: skip
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text is not None, done.stderr
    console = [line for line in done.stderr.splitlines() if ":CONSOLE:" in line]
    return json.loads(html.unescape(text[1])), console


def test_a_tree_that_opens_and_closes(tmp_path):
    found = parpy.explain(
        sweeps, np.zeros(1000), np.zeros(1000), 5, 1000, opts=parpy.auto(backend=CompileBackend.Cpu)
    )  # fmt: skip
    page, console = shown(found, tmp_path)
    loops = found.facts["loops"]
    assert [loop["depth"] for loop in loops] == [0, 1, 1, 0]
    for section in (page["light"], page["dark"]):
        assert section["loops"] == [loop["text"] for loop in loops]
        assert section["depths"] == [loop["depth"] for loop in loops]
        assert [v.split(",")[0] for v in section["verdicts"]] == [loop["verdict"] for loop in loops]
        assert section["states"] == [[True] * 4, [True, False, False, True], [True] * 4]
        assert min(section["contrasts"]) >= 4.5
        for loop in loops:
            assert (loop["witness"] or loop["reason"]) in section["text"]
        assert section["wide"] == 0
    assert page["problems"] == page["requests"] == console == []


def test_text_of_the_user_is_text(tmp_path):
    opts = parpy.CompileOptions(backend=CompileBackend.Cpu, parallelize={EVIL: parpy.threads(8)})
    found = parpy.explain(sweeps, np.zeros(1000), np.zeros(1000), 5, 1000, opts=opts)
    assert EVIL in found.mapping
    page, console = shown(found, tmp_path)
    assert EVIL in page["dark"]["text"]
    of_picture = {"rect", "svg", "text", "title"}
    assert set(page["dark"]["tags"]) <= {"b", "details", "div", "pre", "span", "summary"} | of_picture
    assert page["title"] == "" and page["problems"] == page["requests"] == console == []


def test_the_page_would_tell(tmp_path):
    """The same checks find faults in HTML that breaks the rules."""

    class Wrong:
        def _repr_html_(self):
            return (
                "<details><summary><span>x</span><b style='color: #777'>proved</b></summary></details>"
                "<img src=http://example.invalid/x.png><script>document.title = 'ran'</script>"
            )

    page, console = shown(Wrong(), tmp_path)
    assert any("img-src" in problem for problem in page["problems"])
    assert any("script-src" in problem for problem in page["problems"])
    assert console and min(page["light"]["contrasts"]) < 4.5
