"""What a session's transcripts tell: its own, and those of the agents it started."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ijfw_core.errors import IjfwError
from ijfw_core.pipeline import transcripts
from ijfw_core.pipeline.listen import Listener, signal_id
from ijfw_core.project import Project
from ijfw_core.text import one_line
from ijfw_hookspecs import AgentEvent, Signal

WITHHELD = "redactor-error"  # counted by the redactor where a text was withheld whole
SESSION_CHARS = 120  # of a session id; those of the platforms have 36
FILES = 200  # transcripts of started agents that are read for one session

Watcher = Callable[[AgentEvent, Sequence[Signal]], None]


class Hearing:
    """Signals by id, and the ids that were not heard in an earlier reading.

    Args:
        project: whose plugins listen, and where bookmarks lie.
        session: the session that signals count for; "" takes it from the first event.
        platform: which adapter reads; "" takes the first that knows the file.
        watch: told of each event that gave signals.
        follow: told of every event, raw, the known ones too.
    """

    def __init__(
        self,
        project: Project,
        session: str = "",
        platform: str = "",
        watch: Watcher | None = None,
        follow: Callable[[AgentEvent], None] | None = None,
    ) -> None:
        self.session = session
        self.signals: dict[str, Signal] = {}
        self.fresh: dict[str, None] = {}  # in the order in which they were heard
        self.events = 0  # that were new
        self.bad_records = 0
        self._project = project
        self._platform = platform
        self._watch = watch
        self._follow = follow
        self._readings: list[transcripts.Reading] = []

    def read(self, path: str) -> None:
        """Hear a transcript and those that belong to it, each from where it was left.

        Raises NotFoundError, UsageError and IjfwError as `open_transcript` does.
        """
        reading = self._open(path)
        self._hear(reading)
        for other in reading.also[:FILES]:
            try:
                self._hear(self._open(other))
            except IjfwError:
                self.bad_records += 1  # the session's own transcript counts without it

    def add(self, signals: Sequence[Signal]) -> None:
        """Take in what hooks heard and the transcripts do not tell."""
        for signal in signals:
            self._take(signal, is_new=signal_id(signal) not in self.signals)

    def save_bookmarks(self) -> None:
        """Remember how far was read; what was withheld is heard again next time."""
        if self._project.redactor.counts[WITHHELD]:
            return
        for reading in self._readings:
            mark = transcripts.bookmark_path(self._project.roots.folder, reading.path)
            transcripts.save_bookmark(mark, reading.bookmark)

    def _open(self, path: str) -> transcripts.Reading:
        mark = transcripts.bookmark_path(self._project.roots.folder, path)
        start = transcripts.load_bookmark(mark)
        adapters = self._project.hooks.adapters()
        return transcripts.open_transcript(adapters, path, self._platform, start)

    def _hear(self, reading: transcripts.Reading) -> None:
        self._readings.append(reading)
        listener: Listener | None = None
        for event, is_new in reading:
            if listener is None:
                name = self._project.redactor.text(one_line(self.session or event.session))
                self.session = name[:SESSION_CHARS]
                context = self._project.context(self.session)
                listener = Listener(self._project.hooks, context, self._project.redactor)
            found = listener.hear(replace(event, session=self.session))
            self.events += is_new
            if self._follow:
                self._follow(event)
            for signal in found:
                self._take(signal, is_new)
            if self._watch and found:
                self._watch(event, found)
        self.bad_records += reading.bad_records

    def _take(self, signal: Signal, is_new: bool) -> None:
        identity = signal_id(signal)
        self.signals.setdefault(identity, signal)
        if is_new:
            self.fresh[identity] = None
