"""What online solvers share: methods that learn from one row, or a few, at a time.

    protocols             what the loop asks of weights, of update rules and of step sizes
    online_loop           the loop: rows are drawn, predicted and learnt from; one kernel for all methods
    structured_loop       the same for structured examples
    dual_averaging        weights w = ∇Ω*(λ/c), for every strongly convex regularizer              (``pgs``)
    subgradient_descent   the update rule of projected subgradient steps, with any step sizes      (``pegasos``, ``proximal``, …)
    truncated_steps       the update rule of gradient steps with truncation                        (``smidas``, ``truncgrad``)
    step_size             the step size of the latter, by theorem or by trial
    averaging             sums of all weights so far
    predictors            which of the weights to return: last, random, average, suffix
    strength_search       several strengths at once, to choose one while learning
    candidates, ridge_candidates   the models that it trains
    chosen_strength       a run that begins with such a search

The solvers are in :mod:`fenchel.solvers`, one file each; a new one brings an update rule, or step sizes for ``subgradient_descent``.
"""
