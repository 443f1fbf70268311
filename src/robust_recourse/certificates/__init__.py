"""How much ambiguity the odds at a point bear, whichever method the point comes from."""

from robust_recourse.certificates._certificates import Certificate, Certificates
from robust_recourse.certificates._certify import certify
from robust_recourse.certificates._surroundings import HasNeighbourhoods

__all__ = ["Certificate", "Certificates", "HasNeighbourhoods", "certify"]
