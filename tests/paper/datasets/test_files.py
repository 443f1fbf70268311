import gzip
import hashlib

import pytest

from robust_recourse.paper.datasets import DatasetError
from robust_recourse.paper.datasets.files import cache_folder, data_folders, find, read
from robust_recourse.paper.datasets.sources import SOURCES


def test_every_source_belongs_to_its_data_set_and_has_a_plausible_hash():
    for name, sources in SOURCES.items():
        for source in sources:
            assert source.dataset == name
            assert source.url.startswith("https://")
            for version in source.versions:
                assert len(bytes.fromhex(version.sha256)) == 32
                assert version.size > 0


def test_the_folder_of_the_variable_comes_before_the_cache(cache, put, tmp_path, monkeypatch):
    (source,) = SOURCES["sba"]
    assert data_folders() == [cache] == [cache_folder()]
    assert find(source) is None
    second = put(source.paths[0], "cache")
    assert find(source) == second
    monkeypatch.setenv("ROBUST_RECOURSE_DATA", str(tmp_path / "mine"))
    assert find(source) == second
    first = put(source.paths[0], "mine", folder=tmp_path / "mine")
    assert find(source) == first
    monkeypatch.setenv("ROBUST_RECOURSE_DATA", "")
    assert find(source) == second


def test_a_home_folder_is_expanded(cache, monkeypatch, tmp_path):  # noqa: ARG001
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("ROBUST_RECOURSE_DATA", "~/data")
    assert data_folders()[0] == tmp_path / "data"


def test_a_missing_file_is_named_with_the_folders_the_command_and_the_variable(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUST_RECOURSE_DATA", str(tmp_path / "mine"))
    with pytest.raises(DatasetError) as error:
        read(SOURCES["german"][1])
    message = str(error.value)
    for part in (
        "south_german/SouthGermanCredit.asc",
        str(tmp_path / "mine"),
        str(cache),
        "`robust-recourse datasets fetch german`",
        "ROBUST_RECOURSE_DATA",
    ):
        assert part in message
    assert "\n" not in message
    assert isinstance(error.value, OSError)


def test_a_folder_in_the_place_of_the_file_is_no_file(cache):
    (source,) = SOURCES["sba"]
    (cache / source.paths[0]).mkdir(parents=True)
    with pytest.raises(DatasetError, match="found in none of the folders"):
        read(source)


def test_the_hash_of_what_was_read_is_returned(put, expect):
    (source,) = expect("sba", "right")
    put(source.paths[0], "right")
    file = read(source)
    assert file.content == b"right"
    assert file.sha256 == hashlib.sha256(b"right").hexdigest()
    assert file.name == "SBAcase.11.13.17.csv"


def test_a_wrong_hash_is_reported_with_both_hashes_and_sizes(put, expect):
    (source,) = expect("sba", "right")
    path = put(source.paths[0], "wrong!")
    with pytest.raises(DatasetError) as error:
        read(source)
    message = str(error.value)
    for part in (str(path), "6 bytes, expected 5", hashlib.sha256(b"wrong!").hexdigest(), source.versions[0].sha256):
        assert part in message
    assert "fetch sba" in message
    assert "check_hash=False" in message
    assert "truncated" not in message
    assert read(source, check_hash=False).content == b"wrong!"


def test_a_short_file_is_suspected_to_be_truncated(put, expect):
    (source,) = expect("sba", "right")
    put(source.paths[0], "righ")
    with pytest.raises(DatasetError, match=r"not the expected file \(truncated\?\): it has 4 bytes"):
        read(source)


def test_a_file_of_ones_own_must_be_removed_first(put, expect, tmp_path, monkeypatch):
    (source,) = expect("sba", "right")
    put(source.paths[0], "wrong")
    with pytest.raises(DatasetError) as in_cache:
        read(source)
    monkeypatch.setenv("ROBUST_RECOURSE_DATA", str(tmp_path / "mine"))
    put(source.paths[0], "wrong", folder=tmp_path / "mine")
    with pytest.raises(DatasetError, match="Remove it"):
        read(source)
    assert "Remove it" not in str(in_cache.value)


def test_both_line_ends_of_the_south_german_file_are_right():
    assert {version.size for version in SOURCES["german"][1].versions} == {47_938, 47_940}


def test_a_compressed_file_counts_by_its_content_however_it_was_compressed(put, expect):
    (source,) = expect("gmc", "a,b\r\n")
    for level in (1, 9):
        put("gmc/cs-training.csv.gz", gzip.compress(b"a,b\r\n", level, mtime=level))
        file = read(source)
        assert (file.content, file.name) == (b"a,b\r\n", "cs-training.csv")
        assert file.sha256 == source.versions[0].sha256


def test_the_plain_file_is_found_too(put, expect):
    (source,) = expect("gmc", "a,b\r\n")
    put("gmc/cs-training.csv", "a,b\r\n")
    assert read(source).name == "cs-training.csv"


def test_a_damaged_archive_is_a_data_set_error_even_without_the_check(put, expect):
    (source,) = expect("gmc", "a,b\r\n" * 100)
    whole = gzip.compress(b"a,b\r\n" * 100)
    for content in (whole[:-9], b"not compressed", whole[:12] + b"\xff" * 8 + whole[20:]):
        path = put("gmc/cs-training.csv.gz", content)
        for check in (True, False):
            with pytest.raises(DatasetError, match="cannot be uncompressed") as error:
                read(source, check_hash=check)
            assert str(path) in str(error.value)
