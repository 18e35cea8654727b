"""Modules whose jobs this app does: importing them has registered their handlers."""

from scoring import driving, overlap, running

HANDLERS_OF = [running, driving, overlap]
