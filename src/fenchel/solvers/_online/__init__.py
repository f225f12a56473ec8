"""What online solvers share: methods that learn from one row, or a few, at a time.

    game         the rounds: rows are drawn, a player suffers a loss and moves; one kernel for all players
    leaders      players of dual averaging, w = ∇Ω*(λ/t), for every regularizer        (``pgs``)
    descent      players of projected subgradient steps, with a rule of step sizes     (``pegasos``, ``proximal``, …)
    predictors   which of the weights visited to return: last, random, average, suffix
    race         several strengths side by side, to choose one while learning

The solvers themselves are in :mod:`fenchel.solvers`, one file each; a new one brings a player, or a rule for ``descent``.
"""
