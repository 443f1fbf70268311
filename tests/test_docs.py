"""What the pages show must run, and print what they say it prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
# Comment lines at the end of a block are what it prints.
PRINTED = re.compile(r"(?:^#(?: .*)?\n)+\Z", flags=re.MULTILINE)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/index.md", "docs/tutorial.md", "docs/experiments.md"]
)
def test_every_example_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "BENCH_" not in text
    blocks = FENCE.findall(text)
    assert blocks
    namespace = {}
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page, "exec"), namespace)
        said = PRINTED.search(block)
        expected = [line[2:] for line in said.group().splitlines()] if said else []
        assert printed.getvalue().rstrip().splitlines() == expected, block
