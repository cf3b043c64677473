"""For the tests of plugins: contract classes to inherit, and a project to play sessions in.

Needs pytest and hypothesis: `pip install 'ijfw[testing]'`. The fixture `ijfw_project` comes with
`-p ijfw_core.testing.plugin`, see there. Our own plugins pass the same contracts.
"""

import pytest

pytest.register_assert_rewrite(
    "ijfw_core.testing.adapters",
    "ijfw_core.testing.contracts",
    "ijfw_core.testing.project",
    "ijfw_core.testing.stores",
)

from ijfw_core.author.modules import load as load_plugin  # noqa: E402
from ijfw_core.author.probes import ask as ask_plugin  # noqa: E402
from ijfw_core.testing.adapters import AdapterContract  # noqa: E402
from ijfw_core.testing.contracts import (  # noqa: E402
    ClassifierContract,
    DreamPassContract,
    PluginContract,
    RedactorContract,
    SignalContract,
)
from ijfw_core.testing.project import Done, IjfwProject, Played, Session  # noqa: E402
from ijfw_core.testing.stores import (  # noqa: E402
    NOW,
    Made,
    StoreContract,
    an_entry,
    carry_out,
    state,
    undo,
)

__all__ = [
    "NOW",
    "AdapterContract",
    "ClassifierContract",
    "Done",
    "DreamPassContract",
    "IjfwProject",
    "Made",
    "Played",
    "PluginContract",
    "RedactorContract",
    "Session",
    "SignalContract",
    "StoreContract",
    "an_entry",
    "ask_plugin",
    "carry_out",
    "load_plugin",
    "state",
    "undo",
]
