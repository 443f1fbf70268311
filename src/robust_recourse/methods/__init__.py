"""The recourse methods, one file each."""

from robust_recourse.methods.base import RecourseMethod

__all__ = ["RecourseMethod"]
