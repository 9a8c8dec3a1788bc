"""The marker `gpu`: `pytest -m gpu` runs what needs an NVIDIA GPU, and nothing else.

Tests of test_gpu.py carry it, and so does every test that was parametrized with backend="cuda".
"""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU and its driver")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        call = getattr(item, "callspec", None)
        if call is not None and call.params.get("backend") == "cuda":
            item.add_marker(pytest.mark.gpu)
