"""Loads `sql/`, runs it over a warehouse, and shows what it says. No estimate is computed here."""
