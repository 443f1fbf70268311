"""Where the files of the data sets come from, and how to recognise them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SOURCES", "Source", "Version"]


@dataclass(frozen=True)
class Version:
    """One valid content of a file, uncompressed."""

    sha256: str
    size: int


@dataclass(frozen=True)
class Source:
    """A file of a data set.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    paths : tuple of str
        Where the file lies in a data folder, the preferred place first. A path that ends in ``.gz`` is compressed.
    versions : tuple of Version
        Contents that are known to be right.
    url : str
        Address of the file or of the archive that holds it; if it cannot be downloaded, of the page that offers it.
    member : str, optional
        Name of the file in the archive.
    by_hand : bool
        Whether it can only be downloaded by hand, because the publisher asks for a login.
    """

    dataset: str
    paths: tuple[str, ...]
    versions: tuple[Version, ...]
    url: str
    member: str | None = None
    by_hand: bool = False


SOURCES: dict[str, tuple[Source, ...]] = {
    "german": (
        Source(
            "german",
            ("german_statlog/german.data",),
            (Version("b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871", 79_793),),
            "https://archive.ics.uci.edu/static/public/144/statlog+german+credit+data.zip",
            member="german.data",
        ),
        Source(
            "german",
            ("south_german/SouthGermanCredit.asc",),
            # As published, and without the last line end, as several copies have it.
            (
                Version("5f363343f356ca38a0236baab849e472846399b2176ccc5bd686483dd8a7562f", 47_940),
                Version("f0caee5ff54c4a4e9689bc10d5b23ccf5088862a846ab603f9536f135aae30d3", 47_938),
            ),
            "https://archive.ics.uci.edu/static/public/573/south+german+credit+update.zip",
            member="SouthGermanCredit.asc",
        ),
    ),
    "sba": (
        Source(
            "sba",
            ("sba_case/SBAcase.11.13.17.csv",),
            (Version("3fc1a6519ae8450cbf6721c9f37797224d77c755b5b52baf58ee046478f8932b", 389_432),),
            "https://raw.githubusercontent.com/AI4LIFE-GROUP/ROAR/1ed84f70230166b6e7624956210ecc15c7b8896b/"
            "datasets/SBAcase.11.13.17.csv",
        ),
    ),
    "gmc": (
        Source(
            "gmc",
            ("gmc/cs-training.csv.gz", "gmc/cs-training.csv"),
            (Version("1bd46da486a5708c58c7b01a034fae2a13b327f6f7b62ea7ba4fe3b5824b24ac", 7_564_965),),
            "https://www.kaggle.com/competitions/GiveMeSomeCredit/data",
            by_hand=True,
        ),
    ),
}
