"""Commands are killed, interrupted, and run on full disks, without a home, with damaged caches, and several at once

After each case an existing output file is intact or wholly new, nothing else is left behind, an interrupted training has written its model,
the exit code is one of docs/cli.md, and standard error has no traceback. Case k of a seed is ``Campaign.case(k)``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fenchel.core.atomic_files import replacing
from fenchel.core.kernel_cache import cache_directory, source_hash
from tests.campaign.commands import COMMANDS, OLD, Command, fault_of, write_data

ENDED = (0, 3)  # done, certified or not
KINDS = {
    "signal": 0.5,  # at a random moment
    "call": 0.25,  # an interrupt at a random call of a function after training has begun
    "full disk": 0.12,
    "largest file": 0.05,
    "full standard output": 0.02,
    "damaged cache": 0.02,
    "no home": 0.01,
    "at once": 0.02,
    "empty cache": 0.01,
}
WAIT = 120  # seconds after which a command counts as hanging
COMPILING = 900  # the same while kernels are compiled
SUBPROCESSES = 0.1  # share of signals that are sent to a whole program, import included
LIGHT = [command for command in COMMANDS if command.words.startswith(("convert train.csv", "predict cars"))]  # that need few kernels


class Failure(Exception):
    """A kind of failure, and what was seen."""


class Campaign:
    """A folder of data, a server that starts commands, and the undisturbed run of each command."""

    def __init__(self, seed: int, folder: Path, cache: Path) -> None:
        self.seed, self.folder, self.cache = seed, folder, cache
        self.data = folder / "data"
        self.data.mkdir()
        write_data(self.data, COMMANDS)
        environment = {**os.environ, "FENCHEL_CACHE": str(cache), "NO_COLOR": "1"}
        self.server = subprocess.Popen(
            [sys.executable, "-m", "tests.campaign.forked_commands", str(self.data / "train.svm"), str(folder / "warm.fenchel")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.references: dict[Command, tuple[bytes, float]] = {}

    def close(self) -> None:
        """End the server."""
        self.server.communicate()

    def reference(self, command: Command) -> tuple[bytes, float]:
        """What a command writes if nothing disturbs it, and the time it takes with warm caches."""
        if command not in self.references:
            for _ in range(2):
                with self.place(command) as out:
                    clock = time.perf_counter()
                    [code], error = self.run([self.job(command, out)], wait=COMPILING)
                    seconds = time.perf_counter() - clock
                    if code not in ENDED:
                        raise AssertionError(f"{command.words} ends with {code}: {error}")
                    self.references[command] = out.read_bytes(), seconds
        return self.references[command]

    @contextmanager
    def place(self, command: Command, exists: bool = False) -> Iterator[Path]:
        """The file that a command writes to, in a folder of its own."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            out = Path(folder, command.output)
            if exists:
                out.write_bytes(OLD)
            yield out

    def job(self, command: Command, out: Path, **changes: Any) -> dict[str, Any]:
        """A request to the server."""
        words = [str(out) if word == "OUT" else word for word in command.words.split()]
        files = {"stdout": os.devnull, "stderr": str(self.folder / "stderr")}
        limits = {"largest_file": None, "interrupt_at_call": None, "signal": int(signal.SIGINT), "environment": {}}
        return {"words": words, "folder": str(self.data), **files, **limits, **changes}

    def run(
        self, jobs: list[dict[str, Any]], sent: signal.Signals | None = None, delay: float = 0.0, wait: float = WAIT
    ) -> tuple[list[int], str]:
        """Exit codes and standard error of jobs that run at the same time; a signal is sent to the first after a delay."""
        (self.folder / "stderr").write_bytes(b"")
        self.server.stdin.write(json.dumps({"jobs": jobs, "signal": sent, "delay": delay, "wait": wait}) + "\n")
        self.server.stdin.flush()
        codes = json.loads(self.server.stdout.readline())
        if None in codes:
            raise Failure(f"hangs: {jobs[0]['words']}")
        return codes, (self.folder / "stderr").read_text()

    def case(self, k: int) -> tuple[str, str | None]:
        """The kind of case k, and what went wrong."""
        rng = np.random.default_rng([self.seed, k])
        kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
        try:
            getattr(self, f"_{kind.replace(' ', '_')}")(rng)
        except Failure as failure:
            return kind, str(failure)
        return kind, None

    def _command(self, rng: np.random.Generator, among: Any = COMMANDS) -> tuple[Command, bytes, float, bool]:
        command = among[rng.integers(len(among))]
        return command, *self.reference(command), bool(rng.random() < 0.5)

    def _signal(self, rng: np.random.Generator) -> None:
        command, reference, seconds, exists = self._command(rng)
        sent = signal.Signals(int(rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])))
        moment, whole = rng.uniform(0.0, 1.1), rng.random() < SUBPROCESSES
        with self.place(command, exists) as out:
            job = self.job(command, out)
            code, error = self._program(job, sent, moment * (seconds + 1.0)) if whole else self._forked(job, sent, moment * seconds)
            said = f"{command.words}: {sent.name} at {moment:.3f} of the time, exit code {code}: {error}"
            if code not in (*ENDED, 130, -sent):
                raise Failure(f"exit code: {said}")
            if code == -signal.SIGINT:  # at its very end Python handles no signals; and after one in compiled text it ends by that signal
                code = 130 if "Interrupted" in error else 0
            self._check(command, reference, out, exists, code, error, said, killed=code < 0)

    def _forked(self, job: dict[str, Any], sent: signal.Signals, delay: float) -> tuple[int, str]:
        [code], error = self.run([job], sent, delay)
        return code, error

    def _program(self, job: dict[str, Any], sent: signal.Signals, delay: float) -> tuple[int, str]:
        words = [sys.executable, "-c", "import _fenchel; _fenchel.main()", *job["words"]]
        environment = {**os.environ, "FENCHEL_CACHE": str(self.cache)}
        run = subprocess.Popen(words, cwd=job["folder"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
        time.sleep(max(delay, 0.15))  # before, Python itself is starting
        run.send_signal(sent)
        error = run.communicate(timeout=WAIT)[1]
        return run.returncode, error

    def _call(self, rng: np.random.Generator) -> None:
        training = [command for command in COMMANDS if command.trains]
        command, reference, _, exists = self._command(rng, training)
        at, sent = int(np.exp(rng.uniform(0.0, np.log(20_000)))), int(rng.choice([signal.SIGINT, signal.SIGTERM]))
        with self.place(command, exists) as out:
            [code], error = self.run([self.job(command, out, interrupt_at_call=at, signal=sent)])
            said = f"{command.words}: {signal.Signals(sent).name} at call {at} of training, exit code {code}: {error}"
            if code == -sent:  # the command was done and Python was exiting, so that the model must be complete
                code = ENDED[0]
            if code not in (*ENDED, 130):
                raise Failure(f"exit code: {said}")
            if code == 130 and out.read_bytes() in (b"", OLD) if out.exists() else True:
                raise Failure(f"lost model: {said}")
            self._check(command, reference, out, exists, code, error, said)

    def _full_disk(self, rng: np.random.Generator) -> None:
        command, reference, _, exists = self._command(rng)
        share = rng.uniform(0.0, 1.5)
        with self.place(command) as place:
            room = place.parent / "disk"
            room.mkdir()
            size = max(4096, int(share * len(reference)) // 4096 * 4096)
            options = ["-t", "tmpfs", "-o", f"size={size + 4096 * exists}"]
            if subprocess.run(["mount", *options, "tmpfs", str(room)], capture_output=True, check=False).returncode:
                return self._largest_file(rng)
            try:
                out = room / command.output
                if exists:
                    out.write_bytes(OLD)
                [code], error = self.run([self.job(command, out)])
                self._check_full(command, reference, out, exists, code, error, size >= 1.2 * len(reference) + 16384)
            finally:
                subprocess.run(["umount", "-l", str(room)], check=True)

    def _largest_file(self, rng: np.random.Generator) -> None:
        command, reference, _, exists = self._command(rng)
        size = max(2048, int(rng.uniform(0.0, 1.5) * len(reference)))  # standard error is a file too
        with self.place(command, exists) as out:
            [code], error = self.run([self.job(command, out, largest_file=size)])
            self._check_full(command, reference, out, exists, code, error, size >= 1.2 * len(reference) + 16384)

    def _check_full(self, command: Command, reference: bytes, out: Path, exists: bool, code: int, error: str, fits: bool) -> None:
        said = f"{command.words}: no room, exit code {code}: {error}"
        if code not in ((*ENDED, 2) if not fits else ENDED):
            raise Failure(f"exit code: {said}")
        if code == 2 and (not error.splitlines()[-1].startswith("Error: ") or str(out) not in error):
            raise Failure(f"message: {said}")
        self._check(command, reference, out, exists, code, error, said)

    def _full_standard_output(self, rng: np.random.Generator) -> None:
        words = ("predict cars.fenchel test.csv", "train train.csv --model OUT", "train train.csv --json --model OUT", "info train.csv")
        command = Command(words[rng.integers(len(words))], "m.fenchel")
        with self.place(command) as out:
            [code], error = self.run([self.job(command, out, stdout="/dev/full")])
            said = f"{command.words} > /dev/full: exit code {code}: {error}"
            if code != 2 or not error.startswith("Error: "):
                raise Failure(f"exit code: {said}")
            self._check(command, b"", out, False, code, error, said)

    def _damaged_cache(self, rng: np.random.Generator) -> None:
        command, reference, _, exists = self._command(rng, LIGHT)
        with self.place(command, exists) as out, tempfile.TemporaryDirectory(dir=self.folder) as folder:
            kernels = Path(folder, "kernels", source_hash())
            shutil.copytree(self.cache / "kernels" / source_hash(), kernels)
            files = sorted(kernels.glob("*.nbc"))
            how = rng.choice(["truncated", "garbled", "empty", "foreign", "folder"], len(files))
            for file, damage in zip(files, how, strict=True):
                _damage(file, str(damage), rng)
            [code], error = self.run([self.job(command, out, environment={"FENCHEL_CACHE": folder})])
            self._check_done(command, reference, out, code, error, "damaged cache")

    def _no_home(self, rng: np.random.Generator) -> None:
        command, reference, _, _ = self._command(rng, LIGHT)
        places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "FENCHEL_CACHE", "FENCHEL_HOME"), f"{os.devnull}/home")
        with self.place(command) as out:
            [code], error = self.run([self.job(command, out, environment=places)])
            self._check_done(command, reference, out, code, error, "no home")

    def _at_once(self, rng: np.random.Generator) -> None:
        command, reference, _, exists = self._command(rng)
        with self.place(command, exists) as out:
            codes, error = self.run([self.job(command, out)] * 4)
            self._check_done(command, reference, out, max(map(abs, codes)), error, f"four at once, exit codes {codes}")

    def _empty_cache(self, rng: np.random.Generator) -> None:
        command, reference, _, exists = self._command(rng, LIGHT)
        with self.place(command, exists) as out, tempfile.TemporaryDirectory(dir=self.folder) as folder:
            codes, error = self.run([self.job(command, out, environment={"FENCHEL_CACHE": folder})] * 3)
            self._check_done(command, reference, out, max(map(abs, codes)), error, f"three on an empty cache, exit codes {codes}")
            if list(Path(folder).rglob("*.tmp")):
                raise Failure(f"left behind: {command.words}: temporary files in the cache")

    def _check_done(self, command: Command, reference: bytes, out: Path, code: int, error: str, disturbed: str) -> None:
        said = f"{command.words}: {disturbed}, exit code {code}: {error}"
        if code not in ENDED:
            raise Failure(f"exit code: {said}")
        self._check(command, reference, out, False, code, error, said)

    def _check(
        self, command: Command, reference: bytes, out: Path, exists: bool, code: int, error: str, said: str, killed: bool = False
    ) -> None:
        """Check what every command promises, however it ended."""
        if "Traceback" in error or "Exception ignored" in error:
            raise Failure(f"traceback: {said}")
        if code in ENDED and not out.exists() and "OUT" in command.words:
            raise Failure(f"not written: {said}")
        is_old = exists and out.exists() and out.read_bytes() == OLD
        if exists and not out.exists():
            raise Failure(f"damaged: the old file is gone: {said}")
        if out.exists() and not is_old and (fault := fault_of(out, reference)):
            raise Failure(f"damaged: {fault}: {said}")
        if code in ENDED and is_old:
            raise Failure(f"not written: {said}")
        if "the best model so far is in" in error and (is_old or not out.exists()):
            raise Failure(f"lost model: {said}")
        if killed:  # the next write removes what a killed process has left
            with replacing(out) as temporary:
                temporary.write_bytes(OLD)
        left = [path.name for path in out.parent.iterdir() if path != out]
        if left:
            raise Failure(f"left behind: {left}: {said}")


def _damage(file: Path, how: str, rng: np.random.Generator) -> None:
    content = bytearray(file.read_bytes())
    if how == "folder":
        file.unlink()
        file.mkdir()
    elif how == "foreign" and os.geteuid() == 0:
        os.chown(file, 65534, 65534)
    else:
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        file.write_bytes(content if how == "garbled" else b"" if how == "empty" else content[: int(rng.integers(len(content)))])


def run(seconds: float, seed: int, keep: Path, first: int = 0, most: float = np.inf) -> dict[str, int]:
    """Run cases from number ``first`` on for that long; counts by kind of case and of failure."""
    counts: Counter[str] = Counter()
    kernels = cache_directory()
    with tempfile.TemporaryDirectory() as folder:
        cache = kernels.parents[1] if kernels is not None else Path(folder, "cache")
        campaign = Campaign(seed, Path(folder), cache)
        try:
            ends, k = time.perf_counter() + seconds, first
            while time.perf_counter() < ends and k - first < most:
                kind, failure = campaign.case(k)
                counts["cases"] += 1
                counts[f"cases {kind}"] += 1
                if failure is not None:
                    counts[failure.partition(":")[0]] += 1
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"interruptions-{seed}-{k}.txt").write_text(f"case {k} of seed {seed}, {kind}\n{failure}\n")
                k += 1
        finally:
            campaign.close()
    return dict(counts)


if __name__ == "__main__":
    print(run(float(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), *(int(word) for word in sys.argv[4:])))
