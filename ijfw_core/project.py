"""An opened project: where its memory lies, its settings, its plugins, its store and writer."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ijfw_core.loading import config as configuration
from ijfw_core.loading import loader
from ijfw_core.loading.config import Config
from ijfw_core.loading.hooks import Hooks
from ijfw_core.pipeline.redaction import Redactor
from ijfw_core.recall.memory import MemoryView
from ijfw_core.storage import roots
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_core.text import format_time
from ijfw_hookspecs import Context, Store, Tier

if TYPE_CHECKING:
    from ijfw_core.storage.batch import BatchWriter


class Project:
    """Everything a command needs, each part made when it is first used."""

    def __init__(
        self,
        place: Roots,
        config: Config,
        hooks: Hooks,
        env: Mapping[str, str],
        now: datetime | None = None,
        *,
        third_party: bool = True,
        dry: bool = False,
    ) -> None:
        self.roots = place
        self.dry = dry  # a copy, for a dry run
        self.third_party = third_party  # whether plugins of other distributions were loaded
        self.config = config
        self.hooks = hooks
        self.env = env
        self._now = now
        self._told = False  # store and comparisons know what an earlier process read

    @property
    def now(self) -> datetime:
        """The time in UTC; a fixed one in tests and the demo."""
        return self._now or datetime.now(UTC)

    @cached_property
    def redactor(self) -> Redactor:
        """Removes secrets; counts what it removed since the project was opened."""
        return Redactor(self.hooks, self._context("", NoMemory()))

    @cached_property
    def store(self) -> Store:
        """The store that answered first; StoreClosedError where none did."""
        return self.hooks.store(self._context("", NoMemory()))

    @cached_property
    def memory(self) -> MemoryView:
        """What is known, redacted."""
        redactor = Redactor(self.hooks, self._context("", NoMemory()))
        return MemoryView(self.store, redactor, with_global=self.config.recall.global_memory)

    @cached_property
    def writer(self) -> Writer:
        """The only way to change memory."""
        from ijfw_core.recall import registry

        roots.prepare(self.roots, track=self.config.git.track)
        registry.note(self.roots, format_time(self.now.replace(microsecond=0)))
        return Writer(self.roots, self.store, self.redactor.text, foresee=self.redactor.foresee)

    def batch_writer(self) -> "BatchWriter":
        """A writer for long lists of changes, which tells no diffs."""
        from ijfw_core.storage.batch import BatchWriter

        self.writer.ready()
        hide = self.redactor
        return BatchWriter(self.roots, self.store, hide.text, foresee=hide.foresee, tells=False)

    def finish(self) -> None:
        """Carry out what the last change left to be done after its answer."""
        if "writer" in self.__dict__:
            self.writer.finish()

    def check_redaction(self, texts: Sequence[str] = ()) -> None:
        """Raise WithheldError or RefusedError where secrets would not be found.

        `texts` are about to be redacted; they are looked at with the same questions.
        """
        if any(texts) and self.redactor.remembers:
            self.redactor.foresee(texts)
        else:
            self.hooks.redact("ready?", self._context("", NoMemory()))
        self.redactor.check()

    def read_memory(self) -> None:
        """Read memory and make the index for comparisons, or bring both up to date: of a large
        memory that takes longer than a plugin that compares has for its answer."""
        from ijfw_core import compare

        if not self._told:
            from ijfw_core.recall import table

            self._told = True
            table.load(self)
        entries = self.memory.entries()
        with suppress(Exception):  # a plugin that compares meets it too, behind its guard
            compare.index_of(compare.living(entries, self.now)).catch_up()

    def sketch_memory(self, seconds: float) -> bool:
        """Spend time on what makes the next comparison quick; whether there is more to do."""
        from ijfw_core import compare

        entries = self.memory.entries()
        with suppress(Exception):
            return compare.index_of(compare.living(entries, self.now)).sketch(seconds)
        return False

    @property
    def bare_context(self) -> Context:
        """What hooks are given where there is no memory."""
        return self._context("", NoMemory())

    def context(self, session: str) -> Context:
        """What hooks are given."""
        return self._context(session, self.memory, self.memory.tiers)

    def _context(self, session: str, memory: object, tiers: tuple[Tier, ...] = ()) -> Context:
        return Context(
            project=str(self.roots.project),
            session=session,
            now=self.now,
            memory=memory,  # type: ignore[arg-type]
            folder=str(self.roots.folder),
            home=str(self.roots.home),
            team=str(self.roots.team),
            tiers=tiers,
            model=self.config.model,
            deadline=time.monotonic() + 300,
            env=self.env,
            dry=self.dry,
        )


class NoMemory:
    """The memory that redactors and stores see: they work before there is one."""

    def get(self, entry_id: str) -> None:
        return None

    def entries(self, *tiers: str) -> tuple[()]:
        return ()

    def search(self, query: object) -> tuple[()]:
        return ()

    def changed(self, tier: str, known: object) -> tuple[()]:
        return ()


def open_project(
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    *,
    third_party: bool = True,
    flags: Sequence[str] = (),
    now: datetime | None = None,
) -> Project:
    """Open the project that `cwd` belongs to. Reads settings and loads plugins, writes nothing.

    Raises RefusedError where memory may not live, and IjfwError for settings that cannot be read.
    """
    env = os.environ if env is None else env
    place = roots.find(cwd or Path.cwd(), env)
    config = configuration.load(place, env, flags)
    if config.project.scope == "worktree":
        place = roots.find(cwd or Path.cwd(), env, scope="worktree")
    hooks = loader.load(config, third_party=third_party)
    return Project(place, config, hooks, env, now, third_party=third_party)
