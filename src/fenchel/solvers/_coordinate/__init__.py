"""Methods that change one weight at a time: the parts that the coordinate solvers share

coordinate_descent  steps on the loss itself, one column each, with derivatives and feature_weights: scd, cyclic-cd, gcd
proximal_newton     a Newton step on some columns under l1·‖w‖₁ + l2/2·‖w‖², with its line_search: working-set
quadratic_model     the quadratic model of a loss, minimised column by column, and on its support by support_minimum
dense_model         the same model on dense columns, by its Gram matrix or by its rows; with fixed_signs, the minimum for given signs
gram_matrix         Gram matrices of some columns
column_products     products with some columns, and how many entries they read
reduction           a quadratic loss on many rows as least squares on few
"""
