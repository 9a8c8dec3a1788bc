"""Settings of the documentation site, which `make docs` builds with Sphinx into build/docs/<version>."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "python"), str(HERE / "_extensions"), str(ROOT / "examples" / "gallery")]

project = "ParPy"
author = "ParPy developers"
copyright = "ParPy developers"
found = re.search(r"project\(parpy VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
assert found is not None
release = version = found[1]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "diagnostic_pages",
    "kernel_operations",
    "versions",
]
source_suffix = {".md": "myst-nb", ".rst": "restructuredtext"}
exclude_patterns = ["_*", "gallery/*.ipynb", "gallery/*.py", "**/jupyter_execute", "**/sg_execution_times.rst"]
default_role = "literal"  # docstrings quote names as `name`
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures show them; descriptions are docstrings
autodoc_preserve_defaults = True
autodoc_mock_imports = ["dask", "jax", "torch"]  # parpy.dask, parpy.jax and parpy.torch are documented without them

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/[a-z]\w*\.py$",
    "download_all_examples": False,
    "min_reported_time": 0,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "thumbnail_size": (320, 240),
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib", "figures.without_margins"),
}

html_theme = "pydata_sphinx_theme"
html_title = "ParPy"
html_static_path = ["_static"]
html_css_files = ["parpy.css"]
html_favicon = "_static/parpy.svg"
html_logo = "_static/parpy.svg"
html_show_sourcelink = False
html_copy_source = False
templates_path = ["_templates"]
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_theme_options = {
    "logo": {"text": "ParPy", "alt_text": "ParPy: start page"},
    "navbar_start": ["navbar-logo", "versions"],
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "show_prev_next": True,
}
html_sidebars = {"index": [], "limits": [], "performance": [], "gallery/**": []}
suppress_warnings = ["config.cache"]
