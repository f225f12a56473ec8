"""Problems: a loss and a regularizer on rows in memory or in a stream, and the iterates and results that solvers and the driver exchange"""
