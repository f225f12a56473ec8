"""A server that runs commands in forked children: they start in milliseconds, because the server has imported the package

A request is a line of JSON: jobs that run at the same time, and a signal for the first after a delay. The answer is a line with their exit
codes, None for one that did not end.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from typing import Any

IMPORTED = (  # what the commands import when they need it
    "fenchel.cli",
    "fenchel.cli.inputs",
    "fenchel.cli.linear_models",
    "fenchel.cli.model_scores",
    "fenchel.datasets.svmlight.reader",
    "fenchel.estimators.linear",
    "fenchel.estimators.tagger",
    "fenchel.estimators.ranker",
    "fenchel.estimators.rna_folder",
    "fenchel.experiments.demo",
    "fenchel.experiments.inverse_time",
    "fenchel.paths",
    "fenchel.persistence",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "pyarrow.csv",
    "pyarrow.parquet",
    "safetensors.numpy",
    "scipy.optimize",
    "sklearn.metrics",
    "sklearn.model_selection",
)
TRACED_FROM = "until_done"  # the function in which training begins


def serve() -> None:
    """Answer requests until standard input ends. The first two arguments are data to train on, once before, and a file for the model."""
    import _fenchel

    for name in IMPORTED:
        importlib.import_module(name)
    data, model = sys.argv[1:]
    sys.argv = ["fenchel", "train", data, "--quiet", "--threads", "1", "--model", model]  # small data: no thread is left when children fork
    with contextlib.suppress(SystemExit):
        _fenchel.main()
    for line in sys.stdin:
        children, request = [], json.loads(line)
        for job in request["jobs"]:
            child = os.fork()
            if child == 0:
                _prepare(job)
                _fenchel.main()  # ends like any program, by SystemExit, with everything that Python does at exit
                return
            children.append(child)
        if request["signal"] is not None:
            time.sleep(request["delay"])
            os.kill(children[0], request["signal"])  # it is there, even if it has ended, until its status is read
        print(json.dumps([_exit_code(child, request["wait"]) for child in children]), flush=True)


def _exit_code(child: int, seconds: float) -> int | None:
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _prepare(job: dict[str, Any]) -> None:
    """Make this process one that a shell would have started with the words, the folder and the files of the job."""
    for number, name in ((0, os.devnull), (1, job["stdout"]), (2, job["stderr"])):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    os.chdir(job["folder"])
    os.environ.update(job["environment"])
    sys.argv = ["fenchel", *job["words"]]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if job["largest_file"] is not None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["largest_file"], job["largest_file"]))
    if job["interrupt_at_call"] is not None:
        sys.settrace(_interrupting(job["interrupt_at_call"], signal.Signals(job["signal"])))


def _interrupting(at: int, sent: signal.Signals) -> Any:
    """A trace function that sends this process a signal at that many calls of Python functions after training has begun."""
    count = -1

    def trace(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        if count >= 0 or frame.f_code.co_name == TRACED_FROM:
            count += 1
            if count == at:
                sys.settrace(None)
                signal.raise_signal(sent)

    return trace


if __name__ == "__main__":
    serve()
