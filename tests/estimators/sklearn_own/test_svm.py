from tests.estimators.sklearn_own.borrowed import borrowed

globals().update(borrowed("sklearn.svm.tests.test_svm"))
