"""Fuzzing the readers: whatever the bytes, a network or an error of our own comes out."""
