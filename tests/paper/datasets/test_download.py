import http.server
import io
import logging
import sys
import threading
import zipfile
from dataclasses import replace

import pytest

from robust_recourse.paper.datasets import DatasetError, download, fetch, load
from robust_recourse.paper.datasets.sources import SOURCES

pytest.importorskip("pooch")


def archive(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        for name, content in members.items():
            opened.writestr(name.replace("_dot_", ".").replace("_slash_", "/"), content)
    return stream.getvalue()


class Server:
    """Answers with what it has: bytes, bytes that end too early, or not found."""

    def __init__(self):
        self.files, self.cut, self.asked = {}, set(), []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                content = outer.files.get(self.path)
                if content is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if self.path in outer.cut else content)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = Server()
    yield running
    running.close()


@pytest.fixture
def german(server, cache, expect, texts, monkeypatch):  # noqa: ARG001
    """The small German files are the right ones, and the server has them."""
    sources = expect("german", texts["statlog"], texts["south"])
    urls = [f"{server.url}/{k}.zip" for k in range(2)]
    changed = tuple(replace(source, url=url) for source, url in zip(sources, urls, strict=True))
    monkeypatch.setitem(SOURCES, "german", changed)
    server.files["/0.zip"] = archive(german_dot_doc="no", german_dot_data=texts["statlog"])
    server.files["/1.zip"] = archive(folder_slash_SouthGermanCredit_dot_asc=texts["south"])
    return server


@pytest.fixture
def sba(server, cache, expect, texts):  # noqa: ARG001
    """The small file of the small businesses is the right one, and the server has it."""
    expect("sba", texts["sba"], url=f"{server.url}/sba.csv")
    server.files["/sba.csv"] = texts["sba"].encode()
    return server


def files_in(folder):
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() or ".fetch" in path.name
    )


def test_fetched_files_can_be_loaded(german, cache, texts):
    paths = fetch("german")
    assert paths == [cache / "german_statlog/german.data", cache / "south_german/SouthGermanCredit.asc"]
    assert [path.read_text() for path in paths] == [texts["statlog"], texts["south"]]
    assert files_in(cache) == ["german_statlog/german.data", "south_german/SouthGermanCredit.asc"]
    assert german.asked == ["/0.zip", "/1.zip"]
    assert len(load("german").D1) == 3


def test_what_is_there_is_not_downloaded_again(sba):
    first = fetch("sba")
    assert fetch("sba") == first
    assert sba.asked == ["/sba.csv"]


def test_a_damaged_file_of_the_cache_is_replaced(sba, put, texts):
    path = put("sba_case/SBAcase.11.13.17.csv", "damaged")
    assert fetch("sba") == [path]
    assert path.read_text() == texts["sba"]
    assert sba.asked == ["/sba.csv"]


def test_a_damaged_file_of_ones_own_is_neither_replaced_nor_hidden(sba, put, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUST_RECOURSE_DATA", str(tmp_path / "mine"))
    path = put("sba_case/SBAcase.11.13.17.csv", "damaged", folder=tmp_path / "mine")
    with pytest.raises(DatasetError, match="Remove it"):
        fetch("sba")
    assert path.read_text() == "damaged"
    assert sba.asked == []


def fails(name, cache, message, left=()):
    with pytest.raises(DatasetError, match=message) as error:
        fetch(name)
    text = str(error.value)
    assert "\n" not in text
    assert "Nothing of it was kept" in text
    assert SOURCES[name][-1].url.rsplit("/", 1)[0] in text
    assert files_in(cache) == list(left)
    return text


def test_a_wrong_file_leaves_nothing_behind(sba, cache):
    sba.files["/sba.csv"] += b"more"
    assert "does not match the known hash" in fails("sba", cache, "hash")


def test_a_wrong_file_does_not_replace_the_old_one(sba, cache, put):
    put("sba_case/SBAcase.11.13.17.csv", "old")
    sba.files["/sba.csv"] = b"new and wrong"
    fails("sba", cache, "hash", left=["sba_case/SBAcase.11.13.17.csv"])
    assert (cache / "sba_case/SBAcase.11.13.17.csv").read_text() == "old"


def test_a_missing_page_is_named(sba, cache):
    del sba.files["/sba.csv"]
    assert str(cache / "sba_case/SBAcase.11.13.17.csv") in fails("sba", cache, "404")


def test_an_interrupted_download_leaves_nothing_behind(sba, german, cache):
    sba.cut.add("/sba.csv")
    assert "could not be downloaded" in fails("sba", cache, "sba")
    german.cut.add("/0.zip")
    assert "could not be downloaded" in fails("german", cache, "german")


def test_a_server_that_is_not_there_is_a_clear_error(sba, cache, monkeypatch):  # noqa: ARG001
    monkeypatch.setitem(SOURCES, "sba", (replace(SOURCES["sba"][0], url="http://127.0.0.1:9/sba.csv"),))
    assert "could not be downloaded from http://127.0.0.1:9/sba.csv" in fails("sba", cache, "sba")


def test_the_member_of_an_archive_is_checked_not_the_archive(german, cache, texts):
    german.files["/1.zip"] = archive(SouthGermanCredit_dot_asc=texts["south"][:-5])
    text = fails("german", cache, "german", ["german_statlog/german.data"])
    assert "SouthGermanCredit.asc is not the expected file (truncated?)" in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>blocked</html>", "not a zip file"),
        (archive(german_dot_doc="no"), "must hold german.data once, it holds german.doc"),
        (archive(german_dot_data="a", more_slash_german_dot_data="b"), "must hold german.data once"),
    ],
)
def test_what_is_not_the_expected_archive_is_a_clear_error(german, cache, content, message):
    german.files["/0.zip"] = content
    assert message in fails("german", cache, "german")


def test_an_interruption_by_the_user_leaves_nothing_behind(sba, cache, monkeypatch):  # noqa: ARG001
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(download, "mismatch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch("sba")
    assert files_in(cache) == []


def test_data_behind_a_login_come_with_the_steps_to_take(cache):
    with pytest.raises(DatasetError) as error:
        fetch("gmc")
    for part in (
        "https://www.kaggle.com/competitions/GiveMeSomeCredit/data",
        str(cache / "gmc/cs-training.csv"),
        "1bd46da486a5708c58c7b01a034fae2a13b327f6f7b62ea7ba4fe3b5824b24ac",
        "ROBUST_RECOURSE_DATA",
    ):
        assert part in str(error.value)
    assert not cache.exists()


def test_data_behind_a_login_that_are_there_are_found(put, expect):
    expect("gmc", "right")
    path = put("gmc/cs-training.csv", "right")
    assert fetch("gmc") == [path]
    put("gmc/cs-training.csv", "wrong")
    with pytest.raises(DatasetError, match="Remove it"):
        fetch("gmc")


def test_generated_data_need_no_fetching_and_unknown_ones_cannot_be_fetched():
    with pytest.raises(DatasetError, match="nothing to fetch"):
        fetch("synthetic")
    with pytest.raises(ValueError, match="must be one of 'synthetic', 'german', 'sba', 'gmc', got 'adult'"):
        fetch("adult")


def test_without_pooch_the_message_says_what_to_install(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install 'robust-recourse\[data\]'"):
        fetch("sba")
    assert not cache.exists()


def test_the_log_of_pooch_is_quiet_and_left_as_it_was(sba, cache):  # noqa: ARG001
    import pooch

    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(handler)
    try:
        fetch("sba")
        assert logger.level == logging.DEBUG
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert records == []


def test_nothing_is_printed_unless_progress_is_asked_for(sba, cache, capsys):  # noqa: ARG001
    (path,) = fetch("sba")
    assert capsys.readouterr() == ("", "")
    path.unlink()
    fetch("sba", progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Downloading sba.csv" in err
