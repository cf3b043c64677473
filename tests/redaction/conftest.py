"""The generators of labelled cases, as fixtures."""

import random
from collections.abc import Callable

import pytest

from ijfw_tests.secrets.cases import Case, generate
from ijfw_tests.secrets.values import fill, leaks


@pytest.fixture(scope="session")
def make_cases() -> Callable[..., list[Case]]:
    """The generator of labelled cases."""
    return generate


@pytest.fixture(scope="session")
def make_value() -> Callable[[str, random.Random], str]:
    """The generator of values of a described shape."""
    return fill


@pytest.fixture(scope="session")
def is_leaked() -> Callable[[str, str], bool]:
    """The test for a leak."""
    return leaks
