"""Modules whose jobs this app does: importing them has registered their handlers."""

from scoring import overlap, running

HANDLERS_OF = [running, overlap]
