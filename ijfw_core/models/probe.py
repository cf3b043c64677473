"""Whether a model could be asked: the way to it up to where something would be sent.

What is missing, a package or a key, is told by the provider's own plugin: nothing of any provider
is known here.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ijfw_core.models.calls import ModelCalls
from ijfw_core.models.spend import Refusal
from ijfw_core.synthesis import ModelError
from ijfw_hookspecs import Answer, Prompt, Request, Signal

if TYPE_CHECKING:
    from ijfw_core.project import Project


def missing(project: "Project") -> str:
    """What keeps the configured model from being asked, beside consent and budgets; "" for nothing.

    A keyring may be asked. Raises RefusedError and WithheldError where secrets would not be found.
    """
    project.check_redaction()
    probe = Probe(project, "", "extract")
    probe.go()
    if probe.instead:
        return f"no API key: put it into {probe.instead} in the environment"
    return probe.refused.message if probe.refused else ""


class Probe(ModelCalls):
    """The way to a model, up to where it would be asked; nothing is sent or logged."""

    host = ""
    keys: tuple[str, ...] = ()
    instead = ""  # the variable for a key that is missing, where no keyring answers

    def go(self) -> None:
        """Put a made-up signal to the plugins."""
        from ijfw_core.pipeline import proposals

        now = self._project.now
        wish = Signal(kind="preference", text="use tabs", key="doctor", at=now, plugin="doctor")
        request = Request(model="off", signals=(wish,))
        proposals.ask(self._project, "", request, self)
        if not self.host and self.refused is None:
            self.refused = proposals.unknown_model(self._project)

    def call(self, prompt: Prompt, host: str, send: Callable[[Prompt], Answer]) -> str:
        """Note where it would go, and send nothing."""
        self.host = host
        raise ModelError("only a probe")

    def failed(self, reason: str) -> None:
        """Note why nothing could be sent."""
        if not self.host and self.refused is None:
            self.refused = Refusal("failed", self._project.redactor.text(reason)[:300])

    def key(self, provider: str) -> str:
        """The key, and a note where it came from."""
        from ijfw_core import keys

        found = keys.status(provider, self._project.env)
        if found.problem:
            self.keys = (*self.keys, found.problem.rstrip("."))
            self.instead = found.variable
        elif found.present:
            place = f" {found.variable}" if found.place == "environment" else ""
            self.keys = (*self.keys, f"key in the {found.place}{place}")
        return super().key(provider)
