"""The built files of the page: made from this source, small, and without an outside address."""

import gzip
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from robust_recourse.notices import explorer

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "page"


def source():
    """The hash that `page/build.mjs` writes into what it makes."""
    files = [path for path in (PAGE / "src").rglob("*") if path.is_file()]
    files += [PAGE / name for name in ("package-lock.json", "build.mjs", "tsconfig.json")]
    digest = hashlib.sha256()
    for name in sorted(path.relative_to(PAGE).as_posix() for path in files):
        digest.update(f"{name}\n".encode())
        digest.update((PAGE / name).read_text(encoding="utf-8").replace("\r\n", "\n").encode())
    return digest.hexdigest()


def test_the_built_files_are_made_from_this_source():
    told = re.search(r"source ([0-9a-f]{64})", explorer.asset("page.js").decode())
    assert told, "page.js does not say what it was made from."
    assert told[1] == source(), "Run `make page`: the source of the page has changed since its files were built."
    assert explorer.page("").startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_node_builds_the_same_files():
    if shutil.which("node") is None or not (PAGE / "node_modules" / "esbuild").exists():
        pytest.skip("Building the page again needs Node, and its packages: make page.")
    before = {name: explorer.asset(name) for name in explorer.FILES}
    folder = ROOT / "src" / "robust_recourse" / "notices" / "explorer"
    subprocess.run(["node", "build.mjs"], cwd=PAGE, check=True, capture_output=True)
    assert {name: (folder / name).read_bytes() for name in explorer.FILES} == before


def test_script_and_style_are_small():
    assert sum(len(gzip.compress(explorer.asset(name), 9)) for name in explorer.FILES) <= 150_000


def test_nothing_comes_from_another_address():
    for name in explorer.FILES:
        addresses = set(re.findall(r"https?://[^\"'`\s)]+", explorer.asset(name).decode()))
        # Names of languages, not addresses that are asked for.
        assert all(address.startswith("http://www.w3.org/") for address in addresses), addresses
    assert not re.search(r"@import|url\((?!['\"]?data:)", explorer.asset("page.css").decode())


def test_the_page_allows_nothing_inline():
    assert "unsafe" not in explorer.POLICY
    assert f'content="{explorer.POLICY}"' in explorer.page()
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=", explorer.page()) == []


def test_the_lockfile_names_no_registry():
    text = (PAGE / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in text
    assert "integrity" in text


def test_all_words_are_in_one_file():
    # Text between tags of a view would be a word that nobody translates.
    for path in (PAGE / "src" / "views").glob("*.tsx"):
        found = re.findall(r">\s*([A-Za-z][a-z]+(?: [a-z]+)+)\s*<", path.read_text(encoding="utf-8"))
        assert found == [], path
