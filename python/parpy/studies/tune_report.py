"""The result of parpy.tune, and the progress that it shows."""

from __future__ import annotations

import importlib
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any

from ..calls.options import CompileOptions, LoopPar
from .explain import _duration


@dataclass
class Trial:
    """A mapping that the search considered.

    ``outcome`` is 'tried', 'refused' (the call fails with it; ``note`` has the reason), 'differs' (its results differ
    from those of the automatic mapping) or 'skipped' (it would need too much of the remaining time).
    """

    opts: CompileOptions
    change: str
    """The difference from the mapping that it was derived from."""
    outcome: str = "skipped"
    seconds: float = float("inf")
    """The median time of one call."""
    runs: int = 0
    note: str = ""
    _function: Any = field(default=None, repr=False)

    @property
    def mapping(self) -> dict[str, LoopPar]:
        """The settings of the loops by their names; empty for the automatic mode."""
        return dict(self.opts.parallelize)

    def describe(self) -> str:
        """The mapping and the other varied options, in a few words."""
        if self.opts.automatic:
            return "automatic"
        words = [repr({name: loop for name, loop in self.mapping.items() if name != "gpu"})]
        if not self.opts.restructure:
            words.append("loops as written")
        if self.opts.max_unroll_count > 1:
            words.append(f"unrolled up to {self.opts.max_unroll_count}")
        if self.opts.use_cuda_thread_block_clusters:
            words.append(f"clusters of up to {self.opts.max_thread_blocks_per_cluster} blocks")
        return ", ".join(words)


@dataclass(repr=False, eq=False)
class Tuning:
    """The report of parpy.tune on its trials. ``str()`` gives a table, fastest first."""

    function: str
    backend: str
    automatic: Trial
    best: Trial
    trials: list[Trial]
    remembered: bool = False
    """Whether an earlier search found the mapping, so that this call ran nothing."""
    spent: float = 0.0
    """The seconds of the search."""

    @property
    def mapping(self) -> dict[str, LoopPar]:
        """The best mapping; empty if the automatic mode is the fastest."""
        return self.best.mapping

    @property
    def speedup(self) -> float:
        """The time of the automatic mapping divided by that of the best mapping: 1 or more."""
        return self.automatic.seconds / self.best.seconds if self.best.seconds else 1.0

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = []
        for trial in sorted(self.trials, key=lambda trial: trial.seconds):
            if trial.outcome != "tried":
                continue
            share = f"{trial.seconds / self.automatic.seconds:.2f}" if self.automatic.seconds else ""
            rows.append((_duration(trial.seconds), share, trial.describe()))
        return rows

    def __str__(self) -> str:
        head = f"{self.function} on {self.backend}: {self.speedup:.2f} times as fast as automatic"
        if self.remembered:
            return f"{head}, as found before\nbest: {self.best.describe()}"
        rows = [("time", "of automatic", "mapping"), *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(2)]
        lines = [f"{head}, {len(rows) - 1} mappings timed in {self.spent:.1f} s"]
        lines += [f"{row[0]:>{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]}" for row in rows]
        outcomes = [trial.outcome for trial in self.trials]
        counts = {word: outcomes.count(word) for word in ("refused", "differs", "skipped")}
        left_out = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return "\n".join([*lines, f"not timed: {left_out}"] if left_out else lines)

    __repr__ = __str__


class TunedOptions(CompileOptions):
    """The options that parpy.tune found, with the report on how it found them in ``tuning``."""

    __slots__ = ("tuning",)
    tuning: Tuning

    def __init__(self, fields: dict[str, Any], tuning: Tuning) -> None:
        super().__init__(**fields)
        object.__setattr__(self, "tuning", tuning)


class Progress:
    """A progress bar over the available seconds. tqdm draws it; without tqdm one line at the end gives the result."""

    def __init__(self, name: str, seconds: float, shown: bool | None) -> None:
        self._seconds, self._bar, self._plain, self._last = seconds, None, bool(shown), ""
        if shown is False:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # tqdm warns that its detection of notebooks is experimental
                tqdm = importlib.import_module("tqdm.autonotebook").tqdm
                in_terminal = importlib.import_module("tqdm.std").tqdm
        except ImportError:
            return
        self._plain = False
        if shown or tqdm is not in_terminal or sys.stderr.isatty():
            self._bar = tqdm(
                total=round(seconds, 1),
                desc=f"tune {name}",
                bar_format="{desc}: {percentage:3.0f}%|{bar}| {n:.1f}/{total:.1f} s{postfix}",
                leave=bool(shown),
            )

    def update(self, elapsed: float, tried: int, best: float, automatic: float) -> None:
        """Shows the progress; `best` and `automatic` are the seconds of a call."""
        self._last = f"{tried} tried, best {_duration(best)}, automatic {_duration(automatic)}"
        if self._bar is not None:
            self._bar.n = round(min(elapsed, self._seconds), 1)
            self._bar.set_postfix_str(self._last)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._plain and self._last:
            print(self._last, file=sys.stderr)
