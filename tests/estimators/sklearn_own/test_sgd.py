from tests.estimators.sklearn_own.borrowed import borrowed

globals().update(borrowed("sklearn.linear_model.tests.test_sgd"))
