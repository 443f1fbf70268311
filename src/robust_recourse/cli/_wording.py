"""The messages of the library, in the words of the command line: options and keys in place of parameters of Python."""

from __future__ import annotations

import re

__all__ = ["in_options"]

_OPTIONS = {
    "time_limit": "--time-limit",
    "max_changes": "--max-changes",
    "n_recourses": "--n-recourses",
    "n_models": "--models",
    "n_people": "--people",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "target_future_validity": "--target",
    "favourable": "--favourable",
    "locale": "--locale",
    "threshold": "--threshold",
    "margin": "--margin",
    "quorum": "--quorum",
    "rule": "--jury-rule",
    "survival": "--survival",
    "confidence": "--confidence",
    "unseen": "--unseen",
    "people": "--refused",
    "folder": "--folder",
    "until": "--until",
    "earlier": "--earlier",
    "head": "--head",
}
_PHRASES = {
    "leave it out of X": "leave it out with --label or --id",
    "replace=True": "--replace",
    'unseen="ignore"': "--unseen ignore",
    ", or say with n_check= that so many shall be trained": " with --survival, or be less sure of it with --confidence",
}
_WORDS = {name for name in _OPTIONS if "_" not in name}  # that also are words of a sentence

_ALONE = r"(?<![\w./'\"-])(?<!--set )"  # no part of a path, of another name or of what is quoted
_GIVEN = re.compile(rf"{_ALONE}({'|'.join(_OPTIONS)}) ?=(?!=) ?(?=(\S?))")
_NAMED = re.compile(rf"{_ALONE}({'|'.join(_OPTIONS.keys() - _WORDS)})(?![\w/'\"\\]|\.\w)")
_SUBJECT = re.compile(rf"(?:(?<=: )|(?<= but )|^)({'|'.join(_WORDS)})(?= (?:cannot|has|is|lacks|must|needs)\b)")
_KEYS = {"increase": 'direction = "up"', "decrease": 'direction = "down"', "bounds": "min and max", "weights": "weight"}
_KEY = re.compile(
    rf"{_ALONE}actions\.(categories|immutable|integer|max_changes|ordered|rules|step|{'|'.join(_KEYS)})\b"
    r"(?:\[('[^']*'|\"[^\"]*\")\])?"
)
_ORDER = re.compile(r"\bordered=\{.*?: (\[lowest, \.\.\., highest\])\}")
_MODELS = {"models": "of the jury", "check": "that checks the survival"}
_MODEL = re.compile(rf"\bjury\.({'|'.join(_MODELS)})\[(\d+)\]")
_TABLE = re.compile(rf"{_ALONE}(?:X|X_train)(?=:? (?:has|is|lacks|must|Column)\b)|(?<= of )X(?=[.,;:]? |[.,;:]?$)")


def in_options(text: str) -> str:
    """Return a message with the options of commands, and the keys of action sets in files, in place of parameters.

    The parameters of a method keep their names, which ``--set`` has, too.

    >>> in_options("Allow more changes with max_changes. Pass favourable= the label, or threshold=.")
    'Allow more changes with --max-changes. Pass --favourable the label, or --threshold.'
    """
    for said, told in _PHRASES.items():
        text = text.replace(said, told)
    text = _MODEL.sub(lambda found: f"Model {found[2]} {_MODELS[found[1]]}", text)
    text = _GIVEN.sub(lambda found: _OPTIONS[found[1]] + ("" if found[2] in ",.;:)" else " "), text)
    for pattern in (_NAMED, _SUBJECT):
        text = pattern.sub(lambda found: _OPTIONS[found[1]], text)
    text = _ORDER.sub(r"ordered = \1", _KEY.sub(_key, text))
    return _TABLE.sub("the table", text)


def _key(found: re.Match[str]) -> str:
    return _KEYS.get(found[1], found[1]) + (f" of column {found[2]}" if found[2] else "")
