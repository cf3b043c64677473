"""For the tests of plugins: contract classes to inherit. Needs pytest and hypothesis."""

import pytest

pytest.register_assert_rewrite("ijfw_core.testing.stores")

from ijfw_core.testing.stores import (  # noqa: E402
    NOW,
    Made,
    StoreContract,
    an_entry,
    carry_out,
    state,
    undo,
)

__all__ = ["NOW", "Made", "StoreContract", "an_entry", "carry_out", "state", "undo"]
