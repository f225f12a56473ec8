"""A path by adelie, in an interpreter of its own because adelie needs NumPy 1: ``python adelie_worker.py IN.npz TOL THREADS OUT.npz``

IN holds X or the parts of a CSC matrix, y, the strengths and the loss; OUT gets weights, intercepts and the seconds of the best of three
runs.
"""

import sys
import time

import adelie as ad
import numpy as np
import scipy.sparse as sp


def main(source: str, tol: str, threads: str, target: str) -> None:
    given, count = np.load(source), int(threads)
    if "X" in given:
        matrix = ad.matrix.dense(np.asfortranarray(given["X"]), method="naive", n_threads=count)
    else:
        X = sp.csc_matrix((given["data"], given["indices"], given["indptr"]), shape=tuple(given["shape"]))
        matrix = ad.matrix.sparse(X, method="naive", n_threads=count)
    y = given["y"]
    glm = ad.glm.gaussian(y) if str(given["loss"]) == "least squares" else ad.glm.binomial((y > 0.0).astype(np.float64))
    options = {"lmda_path": given["strengths"], "tol": float(tol), "irls_tol": float(tol), "n_threads": count}
    seconds = np.inf
    for _ in range(3):
        clock = time.perf_counter()
        state = ad.grpnet(X=matrix, glm=glm, intercept=True, early_exit=False, progress_bar=False, **options)
        seconds = min(seconds, time.perf_counter() - clock)
    np.savez(target, W=state.betas.toarray(), b=state.intercepts, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
