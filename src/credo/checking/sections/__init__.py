"""The sections of a check: each looks at one way in which a model may be wrong."""
