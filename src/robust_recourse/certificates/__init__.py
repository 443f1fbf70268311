"""How much ambiguity a point bears."""
