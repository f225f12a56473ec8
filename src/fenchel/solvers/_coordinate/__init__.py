"""Methods that change one weight at a time: what the coordinate solvers share.

descent    steps on the loss as it is, one column each: scd, cyclic-cd, gcd
quadratic  the quadratic model of a loss under l1·‖w‖₁ + l2/2·‖w‖², column by column
newton     the same model on dense columns, by its Gram matrix or by its rows
gram       Gram matrices of some columns
columns    products with some columns, and what they read
reduction  least squares on many rows as least squares on few
"""
