"""What is told about recourses: sentences and pages."""

from robust_recourse.notices import explorer
from robust_recourse.notices.frames import beside, list_changes
from robust_recourse.notices.notice import Change, Notice
from robust_recourse.notices.odds import odds_sentence, odds_text
from robust_recourse.notices.page import page, write_pages
from robust_recourse.notices.reading import Columns, Pair
from robust_recourse.notices.sentences import describe, describe_all

__all__ = [
    "Change",
    "Columns",
    "Notice",
    "Pair",
    "beside",
    "describe",
    "describe_all",
    "explorer",
    "list_changes",
    "odds_sentence",
    "odds_text",
    "page",
    "write_pages",
]
