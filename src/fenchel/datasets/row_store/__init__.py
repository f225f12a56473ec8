"""Rows on disk, larger than memory: a folder of plain .npy files that are mapped, not read"""
