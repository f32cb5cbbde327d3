"""The methods of models that call the floors above: the one place where a value knows algorithms.

A model is a frozen value; its algorithms are functions in `predict`, `train`, `checking`, `formats`
and `plot`. Each class here declares what can be asked of one kind of value, with its signature, its
examples and the function that answers; the value inherits it.
"""
