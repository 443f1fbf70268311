"""Recourse by group: who gets one, what it costs, and whether it holds."""

from robust_recourse.audits._audit import Audit, audit

__all__ = ["Audit", "audit"]
