"""The files around the code: what they say twice must agree."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import robust_recourse

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CLOCK = re.compile(r"assert.*\b(?:perf_counter|process_time|monotonic|time\.time)\(")


def read_yaml(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def requirements():
    project = PROJECT["project"]
    for group in (project["dependencies"], *project["optional-dependencies"].values()):
        yield from (line for line in group if not line.startswith("robust-recourse["))


@pytest.mark.parametrize("requirement", sorted(set(requirements())))
def test_dependencies_have_a_lower_bound_and_nothing_else(requirement):
    # With it `uv pip install --resolution lowest-direct` installs what we promise to work with.
    assert re.fullmatch(r"[\w-]+>=[\d.]+(; sys_platform [!=]= 'linux')?", requirement)


def test_every_lower_bound_has_a_reason():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for line in text[text.index("dependencies = [") : text.index("[project.scripts]")].splitlines():
        assert ">=" not in line or re.search(r"# \w", line), line


def test_ci_runs_on_every_supported_python_with_lowest_and_newest_dependencies():
    matrix = read_yaml(".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    supported = SpecifierSet(PROJECT["project"]["requires-python"])
    assert matrix["python"] == [f"3.{minor}" for minor in range(11, 15)]
    assert all(version in supported for version in matrix["python"])
    assert "3.10" not in supported
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["dependencies"] == ["highest"]
    assert {row["dependencies"] for row in matrix["include"]} == {"lowest-direct"}


def test_commits_are_checked_as_make_lint_checks():
    hooks = read_yaml(".pre-commit-config.yaml")["repos"][0]["hooks"]
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    tools = re.findall(r"\$\(BIN\)/([\w-]+(?: (?:check|format))?)", lint)
    assert [hook["entry"].removeprefix(".venv/bin/").removesuffix(" --fix") for hook in hooks] == tools


def test_the_citation_names_this_version():
    citation = read_yaml("CITATION.cff")
    assert citation["version"] == robust_recourse.__version__
    assert citation["title"] == PROJECT["project"]["name"]
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["references"][0]["title"] == "Robust Bayesian Recourse"


def test_the_changelog_has_the_usual_form():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", version) for version in versions[1:])
    kinds = re.findall(r"^### (.*)$", text, flags=re.MULTILINE)
    assert kinds
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.mark.parametrize(
    "text",
    ["assert time.perf_counter() - began < 2.0", "assert 1.0 > monotonic() - start", "assert time.time() < deadline"],
)
def test_an_assertion_about_the_clock_is_recognised(text):
    assert CLOCK.search(text)


def test_no_test_asserts_how_long_something_takes():
    for path in (ROOT / "tests").rglob("*.py"):
        if path != Path(__file__):
            assert not CLOCK.search(path.read_text(encoding="utf-8")), path
