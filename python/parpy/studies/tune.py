"""parpy.tune: measures mappings of a call and remembers the fastest.

The core lists the mappings that are one step away from a given mapping (src/tune.cpp); this module runs and times them.
The search is a hill climb: the neighbours of the best mapping so far race against it in small heats, in which slower
mappings drop out (successive halving); the neighbours of the winner follow. At the end the fastest mappings and the
automatic mapping run once more, in turns, and the lowest median decides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from inspect import isroutine
from statistics import median
from typing import Any

from .. import _native
from ..calls import logs
from ..calls.argument_lists import arguments_of
from ..calls.compiling import driver_behind
from ..calls.jit import _as_jit, jit_of_source
from ..calls.options import CompileBackend, CompileOptions, LoopPar
from ..calls.performance import quiet
from ..calls.tracebacks import hides_frames
from ..calls.warnings import warn
from ..cuda._streams import handle_of
from ..syntax.starred import packed_values
from .tune_arguments import Copies, difference, positional, returned, snapshot
from .tune_report import Progress, Trial, TunedOptions, Tuning

_HEAT = 6  # challengers at a time
_GAIN = 0.98  # a new best needs at most this part of the old best's time; smaller gains may be noise
_GAIN_ONCE = 0.8  # the same limit for mappings that ran only once
_SHARE = 0.5  # the part of the remaining time that one candidate may use
_FINAL = 0.15  # the part of all the time that the final comparison gets
_FINALISTS = 4
_BRIEF = 2e-3  # seconds: runs that take less are repeated within a heat
_LONG = 2e-2  # seconds: the first run of a longer call counts, although caches are cold
_START = 3e-6  # seconds to launch a kernel or to wake the workers
_Part = tuple[_native.JitFunction, tuple[Any, ...], CompileOptions | None]
_VARIED = (
    "parallelize",
    "automatic",
    "restructure",
    "max_unroll_count",
    "use_cuda_thread_block_clusters",
    "max_thread_blocks_per_cluster",
)


@hides_frames
def tune(
    function: Callable[..., Any],
    *args: Any,
    seconds: float = 10.0,
    opts: CompileOptions | None = None,
    progress: bool | None = None,
    force: bool = False,
) -> TunedOptions:
    """Searches for the options with which ``function(*args)`` runs fastest, for about ``seconds`` seconds, and returns
    them.

    The arguments are given as in a call, or as one list or tuple, ``tune(f, [x, n])``. The result can be passed as
    ``opts``; its attribute ``tuning`` reports the trials. Automatic calls with arguments of the same types and shapes
    use it from then on, also in later processes. Another ``tune`` of the same call returns it at once unless ``force``
    is set; ``parpy.clear_cache`` forgets it. ``opts`` are fields to keep, such as ``backend`` or ``fast_math``; if they
    contain a mapping, it is one of the trials. ``progress`` shows a bar; the default is to show it if standard error is
    a terminal or a notebook.

    The function runs many times, on copies of the arrays that it may change. Only mappings that are proved, or
    reductions, run, and their results are compared with those of the automatic mapping.

    Raises ValueError for a function without loops, TypeError for arguments that cannot be copied, and every exception
    that the call itself would raise.
    """
    if not isinstance(function, _native.JitFunction) and not isroutine(function):
        raise TypeError(f"parpy.tune takes functions decorated with parpy.jit, not {type(function).__name__}")
    compiled = _as_jit(function)
    args, opts = arguments_of(compiled, args, opts)
    _check(seconds, opts)
    call = _Call(compiled, args, opts)
    known = None if force else call.recall()
    if known is not None:
        return known
    begin = time.perf_counter()
    bar = Progress(compiled.__name__, seconds, progress)
    before = call.forget()
    try:
        search = _Search(call, begin + seconds, bar)
        found = search.run()
        if any(trial.runs for trial in found.trials[1:]):
            call.remember(found.best, found.automatic.seconds)
        else:
            call.put_back(before)
    except BaseException:
        call.put_back(before)
        raise
    finally:
        bar.close()
    found.spent = time.perf_counter() - begin
    logs.tuned(compiled.__name__, found.best.describe(), found.best.seconds, found.automatic.seconds)
    return TunedOptions(call.fields(found.best.opts), found)


def _check(seconds: float, opts: CompileOptions | None) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"seconds must be a number, not {type(seconds).__name__}")
    if not 0 < seconds < math.inf:
        raise ValueError(f"seconds must be positive and finite, not {seconds}")
    if opts is not None and not isinstance(opts, CompileOptions):
        raise TypeError(f"opts must be a parpy.CompileOptions, not {type(opts).__name__}")
    if opts is not None and opts.check is not None:
        raise ValueError("instrumented code is not worth tuning: leave 'check' out of the options")


class _Call:
    """The call that is tuned: the function, its arguments and the options that the search keeps."""

    def __init__(self, compiled: _native.JitFunction, args: tuple[Any, ...], opts: CompileOptions | None) -> None:
        self.compiled, self.passed, self.given = compiled, args, opts
        self.args = packed_values(compiled.__parpy_source__.function, args)
        self.driver = driver_behind(compiled, self.args)
        self.base: CompileOptions | None = None
        if opts is not None:
            fixed = {name: value for name, value in opts._values.items() if name not in ("parallelize", "restructure")}
            self.base = CompileOptions(**{**fixed, "automatic": True, "debug_print": False})
        found = self.neighbours(self.base)
        self.backend: str = found["backend"]
        if self.base is None:  # a call without options runs on the back end of its arguments
            self.base = CompileOptions(automatic=True, backend=CompileBackend[self.backend])
            found = self.neighbours(self.base)
        if not found["loops"]:
            raise ValueError(
                f"'{compiled.__name__}' has no loops that run for these arguments: there is nothing to tune"
            )
        self.start = found

    def parts(self, opts: CompileOptions | None) -> list[_Part]:
        """The compiled parts of the function, with their arguments and options, in the order of a call."""
        if self.driver is None:
            return [(self.compiled, self.args, opts)]
        found: list[_Part] = []
        self.driver.inspect(self.args, opts, lambda *part: found.append(part))
        if not found:
            raise TypeError(f"Python runs all of '{self.compiled.__name__}'")
        return found

    def neighbours(self, opts: CompileOptions | None) -> dict[str, Any]:
        """The mappings that differ by one step in one part of the function."""
        each = [_native.neighbours(*part) for part in self.parts(opts)]
        if len(each) == 1:
            return each[0]
        loops = [found["start"]["parallelize"] for found in each]
        steps = []
        for index, found in enumerate(each):
            others: dict[str, Any] = {}
            for other in loops[:index] + loops[index + 1 :]:
                others |= other
            for change, fields, slowdown, starts in found["neighbours"]:
                merged = {**fields, "parallelize": {**others, **fields["parallelize"]}}
                steps.append((change, merged, slowdown, starts))
        return {
            "backend": each[0]["backend"],
            "loops": sum(found["loops"] for found in each),
            "neighbours": steps,
        }

    def fields(self, opts: CompileOptions) -> dict[str, Any]:
        """All fields of the options that the caller gets."""
        assert self.base is not None
        kept = self.base if self.given is None else self.given
        return {**kept._values, **{name: opts._values[name] for name in _VARIED}}

    def candidate(self, fields: dict[str, Any]) -> CompileOptions:
        """Options that run the mapping only where the analysis allows it."""
        assert self.base is not None
        loops = {name: LoopPar()._set(*loop) for name, loop in fields["parallelize"].items()}
        varied = {name: fields[name] for name in _VARIED}
        made = CompileOptions(**{**self.base._values, **varied, "parallelize": loops})
        if made.legality == "check":
            made.legality = "strict"
        return made

    # ------------------------------------------------------------ remembered results

    def recall(self) -> TunedOptions | None:
        known = [_native.recall(*part) for part in self.parts(self.base)]
        found = [each for each in known if each is not None]
        if len(found) < len(known):
            return None
        fields, seconds, automatic = found[0]
        for others, _, _ in found[1:]:
            first, second = (others, fields) if fields["automatic"] else (fields, others)
            fields = {**first, "parallelize": first["parallelize"] | second["parallelize"]}
        if not seconds:  # another search of this call is running
            return None
        best = Trial(self.candidate(fields), "best", "tried", seconds)
        base = Trial(self.candidate({**fields, "parallelize": {}, "automatic": True}), "automatic", "tried", automatic)
        tuning = Tuning(self.compiled.__name__, self.backend, base, best, [base, best], remembered=True)
        return TunedOptions(self.fields(best.opts), tuning)

    def forget(self) -> list[Any]:
        """Makes automatic calls ignore remembered mappings; returns the mappings remembered so far."""
        before = [_native.recall(*part) for part in self.parts(self.base)]
        if any(part is not None for part in before):
            for function, arguments, options in self.parts(self.base):
                _native.remember(function, arguments, options, self.base, 0.0, 0.0)
        return before

    def put_back(self, before: list[Any]) -> None:
        for (function, arguments, options), known in zip(self.parts(self.base), before, strict=True):
            if known is not None:
                fields, seconds, automatic = known
                _native.remember(function, arguments, options, self.candidate(fields), seconds, automatic)

    def remember(self, best: Trial, automatic: float) -> None:
        chosen = [options for _, _, options in self.parts(best.opts)]
        for (function, arguments, options), own in zip(self.parts(self.base), chosen, strict=True):
            if own is not None:  # loops in which lists grow have no mapping
                _native.remember(function, arguments, options, own, best.seconds, automatic)
        _native.forget_compiled(self.compiled)

    # ------------------------------------------------------------ running

    def copies(self) -> Copies:
        values, names = positional(self.compiled.__parpy_source__.function, self.passed)
        written: set[tuple[int, Any]] | None = None
        captured: list[Any] = []
        if self.driver is None:
            parameters, captured = _native.written_arguments(self.compiled, self.args)
            written = set(parameters)
        else:
            for function, arguments, _ in self.parts(self.base):
                for value in _native.written_arguments(function, arguments)[1]:
                    if not any(value is other for other in captured):
                        captured.append(value)
        return Copies(values, names, written, captured)


class _Search:
    """A search that ends at `deadline`."""

    def __init__(self, call: _Call, deadline: float, bar: Progress) -> None:
        self._call, self._deadline, self._bar = call, deadline, bar
        self._budget = deadline - time.perf_counter()
        self._begin = time.perf_counter()
        self._copies = call.copies()
        self._trials: list[Trial] = []
        self._seen: list[CompileOptions] = []
        self._expected: list[tuple[str, Any]] = []
        self._compiling = 0.0  # seconds of a compilation and one run
        self._clock = _clock(call, self._copies)
        assert call.base is not None
        self._exact = call.base.deterministic
        self._automatic = Trial(call.base, "automatic")
        self._best = self._automatic

    def run(self) -> Tuning:
        try:
            with quiet():  # warnings about candidates do not concern the user
                return self._run()
        finally:
            self._wait()  # kernels may still use the copies
            self._copies.close()
            for trial in self._trials:
                trial._function = None

    def _run(self) -> Tuning:
        first = self._automatic
        self._trials.append(first)
        begin = time.perf_counter()
        if self._call.driver is None:
            self._compile(first)
        result = self._first_run(first)
        self._compiling = time.perf_counter() - begin
        self._expected = snapshot([*self._copies.contents(), *returned(result)])
        if not first.runs:
            self._measure(first, 1)
        if first.seconds < _BRIEF:
            self._measure(first, 4)  # the first one woke the workers
        self._climb()
        self._final()
        return Tuning(self._call.compiled.__name__, self._call.backend, first, self._best, self._trials)

    def _left(self) -> float:
        return self._deadline - _FINAL * self._budget - time.perf_counter()

    # ------------------------------------------------------------ candidates

    def _climb(self) -> None:
        waiting = list(self._given()) + self._steps(self._call.start["neighbours"])
        while waiting and self._left() > 0:
            most = max(1, min(_HEAT, int(self._left() / 2 / self._compiling)))
            heat: list[Trial] = []
            while waiting and len(heat) < most:
                trial = self._entry(*waiting.pop(0))
                if trial is not None:
                    heat.append(trial)
            before = self._best
            self._race([trial for trial in self._compiled(heat) if self._is_right(trial)])
            if self._best is not before:
                found = self._neighbours_of_best()
                waiting = self._steps(found) + waiting

    def _neighbours_of_best(self) -> list[Any]:
        try:
            steps: list[Any] = self._call.neighbours(self._best.opts)["neighbours"]
            return steps
        except Exception:  # a mapping that runs but has no neighbours ends its branch
            return []

    def _given(self) -> Iterator[tuple[CompileOptions, str, float]]:
        """The caller's own mapping."""
        opts = self._call.given
        if opts is not None and opts.parallelize:
            fields = {name: opts._values[name] for name in _VARIED}
            loops = {name: (loop._threads, loop._reduce, loop._tpb) for name, loop in opts.parallelize.items()}
            yield self._call.candidate({**fields, "parallelize": loops}), "as given", 0.0

    def _steps(self, neighbours: list[Any]) -> list[tuple[CompileOptions, str, float]]:
        """The candidates of these neighbours, each with an estimate of the seconds of a call."""
        here = self._best.seconds
        return [
            (self._call.candidate(fields), change, here * slowdown + starts * _START)
            for change, fields, slowdown, starts in neighbours
        ]

    def _entry(self, opts: CompileOptions, change: str, estimate: float) -> Trial | None:
        """The trial of a candidate; None if it was seen before or may need too much of the remaining time."""
        if any(opts == other for other in self._seen):
            return None
        self._seen.append(opts)
        trial = Trial(opts, change)
        self._trials.append(trial)
        if 2 * estimate > _SHARE * self._left():
            trial.note = "it may take too long"
            return None
        return trial

    def _compiled(self, heat: list[Trial]) -> Iterator[Trial]:
        """The trials that compile; several are compiled at a time."""
        if self._call.driver is not None:
            yield from heat
            return
        from concurrent.futures import ThreadPoolExecutor

        if self._call.backend == "Cuda":  # the workers compile for the GPU of this thread
            pool = ThreadPoolExecutor(_HEAT, "parpy-tune", _native.select_device, (_native.current_device(),))
        else:
            pool = ThreadPoolExecutor(_HEAT, "parpy-tune")
        try:
            pending = [pool.submit(self._compile, trial) for trial in heat]
            for trial, each in zip(heat, pending, strict=True):
                try:
                    each.result()
                except Exception as error:
                    self._refuse(trial, error)
                else:
                    yield trial
        finally:
            pool.shutdown(cancel_futures=True)

    def _compile(self, trial: Trial) -> None:
        trial._function = jit_of_source(self._call.compiled.__parpy_source__)
        _native.prepare(trial._function, self._copies.given, trial.opts)

    @staticmethod
    def _refuse(trial: Trial, error: Exception) -> None:
        trial.outcome, trial.note, trial._function = "refused", str(error), None

    def _is_right(self, trial: Trial) -> bool:
        """Whether the results agree with those of the automatic mapping."""
        if self._left() < self._best.seconds:
            trial.note, trial._function = "no time was left", None
            return False
        try:
            result = self._first_run(trial)
        except Exception as error:
            self._refuse(trial, error)
            return False
        found = [*self._copies.contents(), *returned(result)]
        differs = difference(self._expected, found, self._exact)
        if differs:
            trial.outcome, trial.note, trial._function = "differs", differs, None
            warn(f"parpy.tune leaves out {trial.describe()}: {differs}")
        return not differs

    def _first_run(self, trial: Trial) -> Any:
        """Runs a trial with a function of its own, so that its programs are freed with the trial."""
        compiled = trial._function is not None
        if not compiled:
            trial._function = jit_of_source(self._call.compiled.__parpy_source__)
        self._copies.restore()
        self._wait()
        begin = time.perf_counter()
        result = trial._function(*self._copies.given, opts=trial.opts)
        self._wait()
        elapsed = time.perf_counter() - begin
        if compiled and elapsed > _LONG:
            trial.outcome, trial.seconds, trial.runs = "tried", elapsed, 1
        return result

    def _wait(self) -> None:
        if self._call.backend == "Cuda":
            _native.synchronize()

    # ------------------------------------------------------------ timing

    def _measure(self, trial: Trial, runs: int, into: list[float] | None = None) -> None:
        times: list[float] = [] if into is None else into
        for _ in range(runs):
            self._copies.restore()
            times.append(self._clock(trial._function, self._copies.given, trial.opts))
        trial.runs += runs
        trial.outcome, trial.seconds = "tried", median(times)

    def _race(self, heat: list[Trial]) -> None:
        champion = self._best
        times = {
            id(trial): [trial.seconds] if trial.seconds > _LONG and trial.runs else [] for trial in [champion, *heat]
        }
        alive = list(heat)
        runs = max(1, min(10, int(_BRIEF / max(champion.seconds, 1e-9))))
        for stage in range(4):
            for _ in range(runs if stage == 0 else 2 * runs):
                for trial in [champion, *alive]:
                    if stage == 0 and times[id(trial)] and trial.seconds > _LONG:
                        continue
                    likely = trial.seconds if trial.runs else champion.seconds
                    if alive and likely < self._left():
                        self._measure(trial, 1, times[id(trial)])
            self._tell()
            limit = min(times[id(champion)], default=champion.seconds) * (1.5 if stage == 0 else 1.1)
            alive = [trial for trial in alive if times[id(trial)] and min(times[id(trial)]) < limit]
            alive.sort(key=lambda trial: trial.seconds)
            alive = alive[: max(1, len(alive) // 2)]
        if alive:
            gain = _GAIN if len(times[id(alive[0])]) > 1 else _GAIN_ONCE
            if alive[0].seconds < gain * champion.seconds:
                self._best = alive[0]
        for trial in heat:
            if not trial.runs:
                trial.note = "no time was left"
        for trial in [champion, *heat]:
            if trial is not self._best and trial is not self._automatic:
                trial._function = None

    def _final(self) -> None:
        """Compares the winner and the next fastest mappings with the automatic mapping, in turns."""
        first = self._automatic
        others = [trial for trial in self._trials if trial.outcome == "tried" and trial is not first]
        others.sort(key=lambda trial: (trial is not self._best, trial.seconds))
        rivals: list[Trial] = []
        for trial in others[:_FINALISTS]:
            planned = sum(each.seconds for each in [first, *rivals, trial])
            if trial is not self._best and (
                trial.seconds >= first.seconds or time.perf_counter() + 3 * planned + self._compiling > self._deadline
            ):
                continue
            if trial._function is None:
                self._first_run(trial)
            rivals.append(trial)
        if not rivals:
            return
        turns: dict[int, list[float]] = {id(trial): [] for trial in [first, *rivals]}
        for turn in range(100):
            total = sum(trial.seconds for trial in [first, *rivals])
            if turn > 0 and time.perf_counter() + total > self._deadline:
                break
            if turn >= 20 and sum(turns[id(first)]) > 0.2:
                break
            for trial in [first, *rivals]:
                self._measure(trial, 1, turns[id(trial)])
        best = min(rivals, key=lambda trial: trial.seconds)
        self._best = best if best.seconds < first.seconds else first

    def _tell(self) -> None:
        tried = sum(trial.outcome == "tried" for trial in self._trials)
        elapsed = time.perf_counter() - self._begin
        self._bar.update(elapsed, tried, self._best.seconds, self._automatic.seconds)


# ---------------------------------------------------------------- clocks

_Clock = Callable[[Any, tuple[Any, ...], CompileOptions], float]


def _clock(call: _Call, copies: Copies) -> _Clock:
    """The clock of a call: GPU time if its arguments are on the GPU, else the time of the host."""
    if call.backend != "Cuda":
        return _host_seconds
    if not copies.on_device:
        return _host_seconds_with_gpu
    assert call.base is not None
    return _GpuClock(_stream_handle(call.base.stream, copies))


def _host_seconds(function: Any, arguments: tuple[Any, ...], opts: CompileOptions) -> float:
    begin = time.perf_counter()
    function(*arguments, opts=opts)
    return time.perf_counter() - begin


def _host_seconds_with_gpu(function: Any, arguments: tuple[Any, ...], opts: CompileOptions) -> float:
    _native.synchronize()
    begin = time.perf_counter()
    function(*arguments, opts=opts)
    _native.synchronize()
    return time.perf_counter() - begin


class _GpuClock:
    """Times a few calls between two events; the launch times of later calls overlap earlier ones."""

    _CALLS = 5

    def __init__(self, stream: int) -> None:
        self._stream = stream
        self._begin, self._end = _native.DeviceEvent(True), _native.DeviceEvent(True)

    def __call__(self, function: Any, arguments: tuple[Any, ...], opts: CompileOptions) -> float:
        _native.synchronize()  # the arguments may have been restored on another stream
        first = self._of(function, arguments, opts, 1)
        return first if first > 1e-3 else min(first, self._of(function, arguments, opts, self._CALLS))

    def _of(self, function: Any, arguments: tuple[Any, ...], opts: CompileOptions, calls: int) -> float:
        self._begin.record(self._stream)
        for _ in range(calls):
            function(*arguments, opts=opts)
        self._end.record(self._stream)
        self._end.synchronize()
        return self._begin.milliseconds_until(self._end) * 1e-3 / calls


def _stream_handle(stream: Any, copies: Copies) -> int:
    """The stream that calls are launched on."""
    if stream is None:
        return int(copies.streams[0]) if copies.streams else 0
    return stream if isinstance(stream, int) else handle_of(stream)
