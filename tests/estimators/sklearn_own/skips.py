"""Which of scikit-learn's tests are not run against fenchel's estimators, and why

A pattern is the name of a test, optionally with its parameters in brackets; * matches anything. Tests that no pattern matches, such as
those added by a new release, are run.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

WITHOUT_EFFECT = ("solver", "copy_X", "precompute", "selection", "dual", "lr", "learning_rate", "gcv_mode")
REPEATED = "differs from a test that is run only in the name of a solver, or in another parameter that has no effect here"

INTERNAL = "tests scikit-learn's internals: a private function, a solver's state, a class variable"
ARRAYS = "needs array libraries other than NumPy"
SOLVER = "tests one of scikit-learn's solvers by name (its convergence or its restrictions), which means 'auto' here"
MESSAGE = "asserts the wording of scikit-learn's error or warning; fenchel's is worded differently"
DEPRECATED = "tests warnings about parameters that scikit-learn deprecates or discourages; here they work without a warning"
NO_EFFECT = "tests a parameter that has no effect here: learning_rate, power_t, average, precompute, copy_X, check_input"
COUNTS = "counts scikit-learn's iterations, callbacks or steps; n_iter_ counts passes over the data here"
DIGITS = "known difference: tol is a certified gap here, and the test needs more accurate weights than that gap guarantees"
UNSETTLED = "asserts results of SGD before convergence: a label in a tie, a score, the effect of a seed"
MORE = "known difference: scikit-learn refuses a combination that is supported here: hinge loss with l1, several outputs, any solver"
LEAST_NORM = "known difference: without a penalty and with many minimisers, the result need not be the one of least norm"
LEGACY = "needs the attribute shapes that scikit-learn deprecates in LogisticRegressionCV; here they are the new ones"
ROUNDED = "known difference: a gap includes an allowance for rounding, which counts where the weights are as accurate as they can be"
UNLIMITED = "known difference: tol=0 means running for max_iter iterations, which gives no warning here"

SKIPS: dict[str, dict[str, tuple[str, ...]]] = {
    "test_coordinate_descent": {
        NO_EFFECT: (
            "test_check_input_false",
            "test_elasticnet_precompute_incorrect_gram",
            "test_lassoCV_does_not_set_precompute",
            "test_enet_copy_X_False_check_input_False",
            "test_overridden_gram_matrix",
        ),
        MESSAGE: (
            "test_enet_coordinate_descent_raises_convergence",
            "test_enet_l1_ratio",
            "test_enet_nonfinite_params",
            "test_lassocv_alphas_validation",
        ),
        UNLIMITED: ("test_sparse_input_convergence_warning",),
        DEPRECATED: ("test_lasso_alpha_warning",),
        COUNTS: ("test_warm_start_convergence", "test_warm_start_convergence_with_regularizer_decrement"),
        DIGITS: (
            "test_1d_multioutput_enet_and_multitask_enet_cv",
            "test_1d_multioutput_lasso_and_multitask_lasso_cv",
            "test_enet_alpha_max[*-True-True-*]",
            "test_elasticnet_precompute_gram_weighted_samples",
            "test_enet_ols_consistency",
            "test_warm_start",
        ),
        ROUNDED: ("test_lasso_dual_gap",),
    },
    "test_logistic": {
        ARRAYS: ("*array_api*",),
        INTERNAL: ("test_logreg_predict_proba_multinomial",),
        SOLVER: (
            "test_check_solver_option",
            "test_consistency_path",
            "test_liblinear_dual_random_state",
            "test_liblinear_multiclass_raises",
            "test_liblinear_with_large_values",
            "test_max_iter",
            "test_newton_cholesky_fallback_to_lbfgs",
            "test_warm_start_newton_solver",
        ),
        DEPRECATED: (
            "test_elasticnet_l1_ratio_err_helpful",
            "test_l1_ratio_None_deprecated",
            "test_l1_ratio_non_elasticnet",
            "test_logisticregression_warns_with_n_jobs",
            "test_logisticregressioncv_warns_with_use_legacy_attributes",
            "test_lr_scoring_warns",
            "test_lr_penalty_l1ratio_incompatible",
            "test_penalty_deprecated",
            "test_penalty_none",
        ),
        COUNTS: ("test_logistic_regression_callback_support", "test_logistic_regression_callback_support_warning"),
        DIGITS: ("test_logistic_cv_multinomial_score[neg_log_loss-*]", "test_logistic_glmnet", "test_logreg_l1"),
        LEGACY: (
            "test_multinomial_cv_iris",
            "test_LogisticRegressionCV_elasticnet_attribute_shapes",
            "test_LogisticRegressionCV_no_refit",
            "test_LogisticRegressionCV_on_folds",
            "test_logistic_cv[True]",
            "test_lr_cv_scores_differ_when_sample_weight_is_requested",
            "test_n_iter[True-*]",
            "test_scores_attribute_layout_elasticnet",
        ),
    },
    "test_ridge": {
        ARRAYS: ("*array_api*",),
        SOLVER: (
            "test_lbfgs_solver_error",
            "test_n_iter",
            "test_ridge_fit_intercept_sparse_error",
            "test_ridge_fit_intercept_sparse_sag",
            "test_ridge_regression",
        ),
        MESSAGE: ("test_ridge_individual_penalties", "test_ridgecv_alphas_validation", "test_ridgecv_alphas_zero[RidgeCV-None]"),
        MORE: ("test_ridge_positive_error_test",),
        DIGITS: ("test_ridge_ground_truth_positive_test[1.0-True]",),
        LEAST_NORM: (
            "test_regularization_limits_ridge[*-wide-*-zero_alpha]",
            "test_regularization_limits_ridge_gcv[*-square-True-*-zero_alpha]",
            "test_regularization_limits_ridge_gcv[*-wide-*-zero_alpha]",
            "test_ridge_regression_unpenalized[wide-False-*]",
            "test_ridge_regression_unpenalized_hstacked_X",
            "test_ridge_regression_unpenalized_vstacked_X[wide-False-*]",
        ),
    },
    "test_sgd": {
        REPEATED: ("test_SGDClassifier_fit_for_all_backends[threading]", "test_SGDClassifier_fit_for_all_backends[multiprocessing]"),
        INTERNAL: (
            "test_loss_function_epsilon",
            "test_partial_fit_equal_fit",
            "test_partial_fit_equal_fit_classif",
            "test_sgd_predict_proba_method_access",
            "test_validation_mask_correctly_subsets",
            "test_warm_start",
            "test_warm_start_multiclass",
        ),
        MESSAGE: (
            "test_partial_fit_weight_class_balanced",
            "test_sgd_error_on_zero_validation_weight",
            "test_sgd_failing_penalty_validation",
            "test_tol_parameter",
            "test_underflow_or_overflow",
        ),
        NO_EFFECT: (
            "test_adaptive_longer_than_constant",
            "test_average*",
            "test_late_onset_averaging_reached",
            "test_learning_rate_PA_raises",
            "test_plain_has_no_average_attr",
            "test_power_t_limits",
            "test_sgd_averaged*",
            "test_sgd_multiclass_average",
        ),
        UNSETTLED: (
            "test_balanced_weight",
            "test_class_weights",
            "test_l1_ratio",
            "test_sample_weights",
            "test_sgd_proba[SparseSGDClassifier]",
            "test_multi_thread_multi_class_and_early_stopping",
            "test_sgd_random_state",
            "test_sgd_reg",
            "test_validation_set_not_used_for_training",
        ),
        MORE: ("test_input_format[*Regressor]",),
        DIGITS: ("test_large_regularization[l2]",),
    },
    "test_sparse_coordinate_descent": {
        MESSAGE: ("test_sparse_enet_coordinate_descent",),
        DIGITS: (
            "test_path_parameters",
            "test_same_output_sparse_dense_lasso_and_enet_cv",
            "test_sparse_dense_equality[*-False-24-6-0.5-*-Lasso]",
            "test_sparse_enet_not_as_toy_dataset[0.001-*-True-*]",
        ),
    },
    "test_svm": {
        MESSAGE: ("test_linear_svm_convergence_warnings",),
        MORE: ("test_linearsvc_parameters[*-l1-*]",),
    },
}

SLOW = {
    "test_common": ("test_model_pipeline_same_dense_and_sparse[*CV-*]",),
    "test_coordinate_descent": (
        "test_enet_cv_grid_search",
        "test_enet_cv_sample_weight_consistency",
        "test_enet_cv_sample_weight_correctness",
        "test_enet_float_precision",
        "test_linear_models_cv_fit_with_loky",
        "test_sparse_input_dtype_enet_and_lassocv",
    ),
    "test_logistic": (
        "test_LogisticRegressionCV_GridSearchCV_elastic_net",
        "test_elastic_net_versus_sgd",
        "test_logistic_cv_folds_with_classes_missing",
        "test_logistic_cv_multinomial_score",
        "test_saga_vs_liblinear",
    ),
    "test_ridge": ("test_ridge_cv_results_predictions", "test_ridge_gcv_sample_weights", "test_ridge_gcv_vs_ridge_loo_cv"),
    "test_sgd": (
        "test_SGDClassifier_fit_for_all_backends",
        "test_late_onset_averaging_not_reached",
        "test_multi_core_gridsearch_and_early_stopping",
    ),
    "test_sparse_coordinate_descent": ("test_sparse_dense_equality[*CV]",),
}  # these take seconds each


def reason_to_skip(module: str, name: str) -> str | None:
    """The reason to skip the test of this name, including its parameters; None if it is run."""
    for reason, patterns in SKIPS.get(module, {}).items():
        if any(matches(name, pattern) for pattern in patterns):
            return reason
    return None


def matches(name: str, pattern: str) -> bool:
    """Whether a pattern matches the name of a test.

    >>> matches("test_a[x-l1]", "test_a"), matches("test_a[x-l1]", "test_a[*-l2]"), matches("test_ab", "test_a")
    (True, False, False)
    """
    tested = name if "[" in pattern else name.partition("[")[0]
    return fnmatchcase(tested, pattern.replace("[", "[[]"))
