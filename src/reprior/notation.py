"""The letters that shapes are written in, once for the whole package.

P   members of a population: every (split, fold, setting, seed) trained side by side
S   draws of one prediction: dropout masks, ensemble members, weight samples
N   rows of a table
B   rows of a batch
D   features of the space PAD works in (the inputs, or a layer's activations)
H   units of a hidden layer
K   nearest neighbours that count, drawn afresh for every batch
C   classes

A shape is written as a comment in these letters: `x: Tensor  # (B, D)`. `(...)` stands for any
leading axes. Functions are written for one member and so never mention P; only
`reprior.population` adds it.

Greek letters are spelled as the paper spells them in words:

theta    the model's parameters                   ell      length scale of lambda
phi      the generator's parameters               tau      largest temperature
lambda_  how strongly a pseudo row counts         x_tilde  a pseudo row
"""
