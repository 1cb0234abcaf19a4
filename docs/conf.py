"""The site, made by `make docs` from the pages as they stand in the checkout.

The root of the sources is the checkout, so that links between pages work here and on the site alike. The
navigation is the list in `docs/index.md`, and the pages in `docs/reference` get what the code itself says.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

import pathcast  # noqa: E402 - after the path above

project = "Pathcast"
author = "The Pathcast maintainers"
copyright = author
version = release = pathcast.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "contents", "reference"]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "testdata/README.md",
]
exclude_patterns = [".*", "bench", "build", "crates", "demo", "fuzz", "python", "target", "tests", "tools"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

highlight_language = "text"  # blocks that name no language are calls and paths, which are no Python
smartquotes = False  # quotes and `--` of options are to be copied as they are
default_role = "literal"  # docstrings put code between single backticks
autodoc_default_options = {"members": True, "show-inheritance": True}
autoclass_content = "both"  # what the arguments of a class mean is said where it takes them
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88

html_theme = "furo"
pygments_dark_style = "github-dark"  # furo's own choice underlines names of modules, as if they were links
html_title = f"Pathcast {release}"
html_copy_source = False
html_show_sourcelink = False
html_favicon = "../python/pathcast/service/pages/static/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
