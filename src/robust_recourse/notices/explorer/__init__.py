"""The page on which people find their own way: its files, and folders of it that need no server.

``page.js``, ``page.css`` and ``index.html`` are built from the folder ``page`` of the repository by ``make page``.
"""

from robust_recourse.notices.explorer.background import background
from robust_recourse.notices.explorer.files import FILES, POLICY, asset, page
from robust_recourse.notices.explorer.writing import check_explorer, write_explorer

__all__ = ["FILES", "POLICY", "asset", "background", "check_explorer", "page", "write_explorer"]
