"""What every redactor, classifier, signal and dream plugin must satisfy; the built-ins do.

Inherit, name the module of your plugin, and give examples:

    import ijfw_redact_acme
    from ijfw_core.testing import RedactorContract

    class TestAcme(RedactorContract):
        plugin = ijfw_redact_acme
        secrets = [("see ACME-12345 today", "ACME-12345")]
        harmless = ["see ACME-12 today"]
"""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ijfw_core.author import modules, probes, samples
from ijfw_core.author.samples import Alone
from ijfw_core.loading import boundary
from ijfw_core.loading.plugin import Plugin
from ijfw_core.testing.project import IjfwProject
from ijfw_hookspecs import AgentEvent, Candidate, Change, Entry, Signal, Span

TEXTS = st.text(max_size=60)


class PluginContract:
    """What holds for every plugin, whichever hooks it has.

    `plugin` is the plugin's module, `config` what stands in its table of config.toml.
    """

    plugin: ModuleType
    config: Mapping[str, Any] = {}

    @pytest.fixture
    def loaded(self) -> Plugin:
        """The plugin as the kernel loads it."""
        result = modules.load(self.plugin, self.config)
        assert isinstance(result, Plugin), result.reason
        return result

    def test_it_answers_as_the_kernel_expects(self, loaded: Plugin) -> None:
        assert probes.faults(loaded, self.plugin) == []


class RedactorContract(PluginContract):
    """`secrets` are (text, the part that must go), `harmless` are texts that stay whole."""

    secrets: Sequence[tuple[str, str]]
    harmless: Sequence[str] = ()

    def cut(self, loaded: Plugin, text: str) -> str:
        """The text with every span taken out."""
        spans: list[Span] = probes.ask(loaded, "redact", text=text) or []
        for span in sorted(spans, key=lambda one: one.start, reverse=True):
            text = text[: span.start] + "\0" + text[span.end :]
        return text

    def test_secrets_go(self, loaded: Plugin) -> None:
        assert self.secrets, "give examples"
        for text, secret in self.secrets:
            assert secret in text
            assert secret not in self.cut(loaded, text), text

    def test_secrets_go_wherever_they_stand(self, loaded: Plugin) -> None:
        @settings(max_examples=30, deadline=None)
        @given(st.sampled_from(list(self.secrets)), TEXTS, TEXTS)
        def check(pair: tuple[str, str], before: str, after: str) -> None:
            text = f"{before}\n{pair[0]}\n{after}"
            assume(pair[1] not in before + after)
            assert pair[1] not in self.cut(loaded, text)

        check()

    def test_harmless_texts_stay(self, loaded: Plugin) -> None:
        for text in self.harmless:
            assert self.cut(loaded, text) == text

    def test_any_text_is_answered(self, loaded: Plugin) -> None:
        @settings(max_examples=40, deadline=None)
        @given(TEXTS)
        def check(text: str) -> None:
            assert self.cut(loaded, text) == self.cut(loaded, text)

        check()


class ClassifierContract(PluginContract):
    """`examples` are (summary, the kind it must get, or None where the plugin has no opinion)."""

    examples: Sequence[tuple[str, str | None]]

    def classified(self, loaded: Plugin, summary: str) -> str | None:
        """The kind that the plugin gives to these words."""
        candidate = Candidate(kind="observation", summary=summary, content=summary)
        found = probes.ask(loaded, "classify", candidate=candidate)
        return None if found is None else str(found.kind)

    def test_examples(self, loaded: Plugin) -> None:
        assert self.examples, "give examples"
        for summary, kind in self.examples:
            assert self.classified(loaded, summary) == kind, summary

    def test_any_words_are_answered(self, loaded: Plugin) -> None:
        @settings(max_examples=40, deadline=None)
        @given(st.text(min_size=1, max_size=60).filter(str.strip))
        def check(text: str) -> None:
            assert self.classified(loaded, text) == self.classified(loaded, text)

        check()


class SignalContract(PluginContract):
    """`examples` are (event, the kinds of signals that it gives, in any order)."""

    examples: Sequence[tuple[AgentEvent, Sequence[str]]]

    def signals(self, loaded: Plugin, event: AgentEvent) -> list[Signal]:
        """What the plugin hears in one event."""
        return probes.ask(loaded, "on_signal", event=event) or []

    def test_examples(self, loaded: Plugin) -> None:
        assert self.examples, "give examples"
        for event, kinds in self.examples:
            found = [signal.kind for signal in self.signals(loaded, event)]
            assert sorted(found) == sorted(kinds), event.text or event.tool

    def test_examples_pass_the_gate(self, loaded: Plugin) -> None:
        literals = getattr(self.plugin, "LITERALS", None)
        for event, kinds in self.examples:
            if kinds and literals is not None:
                assert probes.heard(event, literals), event.tool

    def test_any_prompt_is_answered(self, loaded: Plugin) -> None:
        event = samples.events()[1]

        @settings(max_examples=40, deadline=None)
        @given(TEXTS, TEXTS)
        def check(text: str, reply: str) -> None:
            heard = replace(event, text=text, reply=reply)
            assert self.signals(loaded, heard) == self.signals(loaded, heard)

        check()


class DreamPassContract(PluginContract):
    """`memory` is what the pass dreams over; `changes` how many it makes of it (None: any)."""

    memory: Sequence[Entry] = ()
    changes: int | None = None

    def dream(self, loaded: Plugin, memory: Sequence[Entry]) -> list[Change]:
        """The changes of all passes of the plugin."""
        context = replace(Alone(memory).context(), settings=loaded.settings)
        passes = probes.ask(loaded, "dream_pass") or []
        return [one for item in passes for one in boundary.changes(item.run(context))]

    def test_it_makes_these_changes(self, loaded: Plugin) -> None:
        made = self.dream(loaded, self.memory)
        assert self.changes is None or len(made) == self.changes

    def test_the_order_in_which_entries_stand_does_not_matter(self, loaded: Plugin) -> None:
        known = self.memory or samples.entries()
        one, two = self.dream(loaded, known), self.dream(loaded, tuple(reversed(known)))
        assert sorted(map(repr, one)) == sorted(map(repr, two))

    def test_a_dry_run_writes_nothing_and_a_second_dream_changes_nothing(
        self, loaded: Plugin, ijfw_project: IjfwProject
    ) -> None:
        if self.plugin.__name__.partition(".")[0] != "ijfw_plugins":
            ijfw_project.use(self.plugin, **self.config)
        ijfw_project.keep(*(self.memory or samples.entries()))
        before = ijfw_project.files()
        ijfw_project.dream(dry_run=True)
        assert ijfw_project.files() == before
        ijfw_project.dream()
        after = ijfw_project.files()
        ijfw_project.dream()
        assert ijfw_project.files() == after
