"""Structured prediction."""
