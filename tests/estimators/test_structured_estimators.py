"""Structured estimators: scikit-learn's conventions, certificates, model files, and interrupts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import fenchel as fl
from fenchel import estimators
from fenchel.structured import Chain, Multiclass, sentences

TOKENS = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "sees", "a", "dog"]] * 3
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V", "D", "N"]] * 3
CHAINS = sentences(*fl.datasets.make_sequences(12, tags=3, words=12))
RANKED = fl.datasets.make_ranking(queries=12, documents=6, n=4)
RNA = fl.datasets.make_rna(8, length=20)

# For each estimator: a factory, the training data, and the inputs to predict.
CASES = {
    "ConditionalRandomField": (lambda: fl.ConditionalRandomField(Chain(), l2=1e-2), CHAINS, CHAINS[0]),
    "Ranker": (lambda: fl.Ranker(l2=0.1), RANKED[:2], RANKED[0]),
    "RnaFolder": (lambda: fl.RnaFolder(l2=1.0, tol=1e-2), RNA, RNA[0]),
    "StructuredSVM": (lambda: fl.StructuredSVM(Chain(), l2=0.1), CHAINS, CHAINS[0]),
    "Tagger": (lambda: fl.Tagger(l2=1e-2), (TOKENS, TAGS), TOKENS),
}
assert set(CASES) == set(estimators.STRUCTURED), "add every new structured estimator here"


def fitted(name, **parameters):
    make, data, _ = CASES[name]
    more = {"qid": RANKED[2]} if name == "Ranker" else {}
    return make().set_params(**parameters).fit(*data, **more)


def same(a, b):
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


class Fitted(dict):
    """A fitted model of each case, created on first access: RNA models take long to compile."""

    def __missing__(self, name):
        self[name] = fitted(name)
        return self[name]


@pytest.fixture(scope="module")
def models():
    return Fitted()


SLOW = ("ConditionalRandomField", "RnaFolder", "StructuredSVM", "Tagger")  # to compile
EACH = [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CASES]


@pytest.mark.parametrize("name", EACH)
def test_the_certificate_is_stored(name, models):
    model = models[name]
    assert model.converged_
    assert model.gap_ == pytest.approx(model.objective_ - model.dual_objective_)
    assert model.history_["passes"][-1] <= model.n_iter_
    assert model.solver_ in fl.solvers.solvers()


@pytest.mark.parametrize("name", EACH)
def test_a_saved_model_gives_the_same_predictions(name, models, tmp_path):
    fl.save(models[name], tmp_path / "m.fenchel")
    again = fl.load(tmp_path / "m.fenchel")
    assert type(again) is type(models[name])
    X = CASES[name][2]
    assert same(again.predict(X), models[name].predict(X))
    assert again.get_params().keys() == models[name].get_params().keys()


@pytest.mark.parametrize("name", EACH)
def test_a_clone_is_not_fitted_and_fitting_is_reproducible(name, models):
    copy = clone(models[name])
    with pytest.raises(NotFittedError):
        copy.predict(CASES[name][2])
    assert np.array_equal(fitted(name).coef_, models[name].coef_)


@pytest.mark.parametrize("name", EACH)
def test_too_few_passes_give_a_convergence_warning(name):
    with pytest.warns(ConvergenceWarning, match=f"{name} stopped at a certified gap of .* max_passes"):
        fitted(name, max_passes=1, tol=1e-9)


@pytest.mark.parametrize("name", EACH)
def test_training_scores_are_between_one_half_and_one(name, models):
    more = {"qid": RANKED[2]} if name == "Ranker" else {}
    assert 0.5 < models[name].score(*CASES[name][1], **more) <= 1.0


@pytest.mark.slow
def test_nothing_is_printed_by_default(capfd):
    fitted("Tagger")
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_an_interrupted_fit_keeps_the_weights_so_far(monkeypatch):
    from fenchel.structured import problem

    whole, calls = problem.loss_and_subgradient, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(problem, "loss_and_subgradient", interrupted)
    model = fl.StructuredSVM(Chain(), l2=1e-6, tol=0.0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*CHAINS)
    assert len(calls) == 6
    assert model.coef_.any()
    assert len(model.predict(CHAINS[0])) == len(CHAINS[0])


@pytest.mark.slow
def test_marginals_are_probabilities_whose_modes_are_the_predicted_tags(models):
    model = models["Tagger"]
    found = model.predict_marginals(TOKENS)
    assert [p.shape for p in found] == [(len(words), 3) for words in TOKENS]
    assert all(p.sum(axis=1) == pytest.approx(1.0) for p in found)
    assert all((p >= 0.0).all() for p in found)
    best = [[model.model_.tags[k] for k in p.argmax(axis=1)] for p in found]
    assert best == model.predict(TOKENS)


def test_predict_marginals_is_refused_for_a_model_without_marginals():
    model = fl.ConditionalRandomField(Multiclass()).fit(np.eye(3), [0, 1, 0])
    with pytest.raises(AttributeError, match="such as Chain, and Multiclass has none"):
        model.predict_marginals(np.eye(3))


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([["a"], [("b", "NN")]], "sentence 1, token 0"),
        ([["a", 3]], "sentence 0, token 1"),
    ],
)
def test_invalid_tokens_are_refused_with_their_position(tokens, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fl.Tagger().fit(tokens, [["X"] * len(words) for words in tokens])


@pytest.mark.parametrize("change", [{"tags": ["D"]}, {"width": 10**6}, {"observed": [10**9]}, {"tags": 7}, {"neighbours": [-1]}])
def test_manipulated_model_files_are_refused(change, models, tmp_path, monkeypatch):
    manipulated = {**models["Tagger"].model_.to_json(), **change}
    monkeypatch.setattr(Chain, "to_json", lambda self: json.loads(json.dumps(manipulated)) if self.tags else {**manipulated, "tags": []})
    fl.save(models["Tagger"], tmp_path / "m.fenchel")
    with pytest.raises(fl.ModelFileError):
        fl.load(tmp_path / "m.fenchel")


@pytest.mark.slow
def test_rounding_does_not_make_the_loss_negative():
    rng = np.random.default_rng(3)
    X = [rng.standard_normal((4, 8)) for _ in range(4)]
    W = rng.standard_normal((8, 3))
    model = fl.StructuredSVM(Chain(), l2=1e-6, tol=1e-4).fit(X, [(x @ W).argmax(axis=1).tolist() for x in X])
    assert model.objective_ >= model.dual_objective_ >= 0.0


@pytest.mark.parametrize("make", [lambda: fl.Tagger(), lambda: fl.StructuredSVM(Chain()), lambda: fl.Ranker()])
def test_scoring_before_fitting_is_refused(make):
    with pytest.raises(NotFittedError):
        make().score(TOKENS, TAGS)


@pytest.mark.slow
def test_probabilities_are_refused_for_the_margin_loss():
    tagger = fl.Tagger(loss="margin", l2=0.1, tol=0.1).fit(TOKENS, TAGS)
    with pytest.raises(ValueError, match="not probabilities"):
        tagger.predict_marginals(TOKENS)
    folder = fl.RnaFolder("margin", tol=0.5).fit(["GGGAAACCC"], ["(((...)))"])
    with pytest.raises(ValueError, match="not probabilities"):
        folder.pair_probabilities("GGGAAACCC")
    with pytest.raises(ValueError, match="gamma"):
        fl.RnaFolder(gamma=-1.0).fit(["GGGAAACCC"], ["(((...)))"])
