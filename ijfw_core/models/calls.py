"""The one way to a model: whether the user allows it, before it is asked and at the call itself.

A provider's plugin brings the transport and nothing else. What it sends was redacted here, the log
has the call before the first byte leaves, and the answer is redacted before anybody sees it. An
answer is kept until the session is concluded, so that a worker that is killed with it in its hands
neither asks nor pays again.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ijfw_core.errors import IjfwError
from ijfw_core.live import consent
from ijfw_core.loading import config as configuration
from ijfw_core.loading import guard
from ijfw_core.models import egress, spend
from ijfw_core.models.egress import Call
from ijfw_core.models.spend import Refusal, Wanted
from ijfw_core.pipeline.redaction import WITHHELD
from ijfw_core.storage import files, seal
from ijfw_core.storage.roots import Roots
from ijfw_core.synthesis import ModelError
from ijfw_core.text import clean, digest, one_line
from ijfw_hookspecs import Answer, Prompt

if TYPE_CHECKING:
    from ijfw_core.project import Project

CALL_SECONDS = 90.0  # with every retry; the plugin around it has 120
ANSWER_CHARS = 64 << 10  # twenty times what is asked for
MOST_TOKENS = 1_000_000  # of one call; a server that counts more is wrong
ANSWERS = ".answer"  # suffix of a kept answer in `.ijfw/run`
GUARD = "IJFW_DISABLE"  # what a provider starts inherits it: our own hooks do nothing in it


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that came, until what it led to is stored."""

    request: str  # digest of what was asked
    call: Call
    text: str


class ModelCalls:
    """Implements `ijfw_hookspecs.Models` for one request.

    Args:
        project: whose consent, settings and redactor count.
        session: the session that is concluded; "" in a dream.
        purpose: as in `Request`.
        subject: digest of what is asked about; equal for the same signals.
    """

    def __init__(self, project: "Project", session: str, purpose: str, subject: str = "") -> None:
        self._project = project
        self._session = session
        self._purpose = purpose
        self._subject = subject
        self._call: Call | None = None
        self.refused: Refusal | None = None  # why it was not asked, or of what use it was not
        self.answered = False

    # --- before -------------------------------------------------------------------------------

    def refusal(self, calls: Sequence[Call] | None = None) -> Refusal | None:
        """Why no model may be asked now; None where one may, or its answer is here already.

        `calls` are those of the log, where they were read before.
        """
        why = self._forbidden()
        if why is None and self._kept() is None:
            made = egress.read(self._project.roots.home) if calls is None else calls
            why = self._over(made, 0)
        return why

    def _forbidden(self) -> Refusal | None:
        if self._project.config.model == "off":
            return Refusal("off", "no model is configured", waits=False)
        if configuration.disabled(self._project.env) or configuration.disabled(os.environ):
            return Refusal("own", "this is a call of our own already", waits=False)
        if not consent.read(self._project.roots).consented:
            return Refusal("consent", "this project has no consent", waits=False)
        return None

    def _over(self, calls: Sequence[Call], tokens: int) -> Refusal | None:
        config, place = self._project.config, self._project.roots
        wanted = Wanted(config.model, str(place.project), self._session, self._purpose, tokens)
        return spend.refusal(calls, config.automem, wanted, self._project.now)

    # --- the contract -------------------------------------------------------------------------

    def call(self, prompt: Prompt, host: str, send: Callable[[Prompt], Answer]) -> str:
        """Send a prompt, see `ijfw_hookspecs.Models`."""
        why = self._forbidden()
        if why is not None:
            raise ModelError(self._refuse(why))
        kept = self._kept()
        if kept is not None:
            self._call, self.answered = kept.call, True
            egress.closed(self._project.roots.home, kept.call, self._project.now)
            return kept.text
        prompt = self._safe(prompt)
        reserved = self._reserve(prompt, host)
        try:
            answer = _ask(send, prompt)
        except guard.PluginError as error:
            self._end("timeout" if error.hung else "failed", *self._tokens(reserved, error.hung))
            raise ModelError(f"{host}: {error}") from None
        except ModelError as error:
            self._end("failed", 0, 0)
            raise ModelError(f"{host}: {error}") from None
        return self._heard(reserved, answer)

    def key(self, provider: str) -> str:
        """The user's key for a provider; "" where there is none."""
        from ijfw_core import keys

        return keys.get(provider, self._project.env) or ""

    def failed(self, reason: str) -> None:
        """No use could be made of the model; the answer, if there was one, is thrown away."""
        self.answered = False
        if self._call is not None and self._call.status in ("answered", "sent"):
            self._end("rejected", self._call.input, self._call.output)
        forget(self._project.roots, self._session)
        if self.refused is None:
            self.refused = Refusal("failed", one_line(self._project.redactor.text(reason))[:300])

    # --- how ----------------------------------------------------------------------------------

    def _refuse(self, why: Refusal) -> str:
        self.refused = why
        return why.message

    def _safe(self, prompt: Prompt) -> Prompt:
        """The prompt redacted once more: a rule that is younger than a signal counts."""
        system, text = (self._project.redactor.text(part) for part in (prompt.system, prompt.text))
        if WITHHELD in (system, text):
            why = Refusal("withheld", "a redactor failed, so nothing was sent")
            raise ModelError(self._refuse(why))
        return replace(prompt, system=system, text=text)

    def _reserve(self, prompt: Prompt, host: str) -> Call:
        place, config = self._project.roots, self._project.config
        size = size_of(prompt)
        tokens = spend.estimate(size)
        rate = spend.price(prompt.model, config.automem.prices)
        wanted = Call(
            id="",
            at="",
            project=str(place.project),
            session=self._session,
            purpose=self._purpose,
            model=prompt.model,
            host=one_line(host)[:200],
            bytes=size,
            input=tokens,
            output=prompt.max_tokens,
            dollars=spend.cost(rate, tokens, prompt.max_tokens),
        )
        total = tokens + prompt.max_tokens
        done = egress.reserve(
            place.home, wanted, self._project.now, lambda calls: self._over(calls, total)
        )
        if isinstance(done, Refusal):
            raise ModelError(self._refuse(done))
        self._call = done
        return done

    def _tokens(self, call: Call, hung: bool) -> tuple[int, int]:
        """What a call without an answer counts as: one that hung may be billed all the same."""
        return (call.input, call.output) if hung else (0, 0)

    def _heard(self, call: Call, answer: Answer) -> str:
        text = self._project.redactor.text(clean(answer.text[: ANSWER_CHARS + 1]))
        spent_in = _counted(answer.input_tokens, call.input)
        spent_out = _counted(answer.output_tokens, spend.estimate(len(text.encode())))
        if not answer.complete or len(answer.text) > ANSWER_CHARS or text == WITHHELD:
            self._end("rejected", spent_in, spent_out)
            raise ModelError(f"{call.host} gave no complete answer")
        self._call = self._priced("answered", spent_in, spent_out)
        self._keep(Kept(request=self._subject, call=self._call, text=text))
        egress.closed(self._project.roots.home, self._call, self._project.now)
        self.answered = True
        return text

    def _end(self, status: egress.Status, spent_in: int, spent_out: int) -> None:
        self._call = self._priced(status, spent_in, spent_out)
        egress.closed(self._project.roots.home, self._call, self._project.now)

    def _priced(self, status: egress.Status, spent_in: int, spent_out: int) -> Call:
        assert self._call is not None
        rate = spend.price(self._call.model, self._project.config.automem.prices)
        dollars = spend.cost(rate, spent_in, spent_out)
        return replace(self._call, status=status, input=spent_in, output=spent_out, dollars=dollars)

    # --- an answer that is not stored yet -----------------------------------------------------

    @property
    def _path(self) -> Path:
        return _answer_path(self._project.roots, self._session)

    def _keep(self, kept: Kept) -> None:
        if self._subject:
            place = self._project.roots
            text = seal.seal(place, msgspec.json.encode(kept).decode())
            files.replace(self._path, text, place.folder)

    def _kept(self) -> Kept | None:
        """An answer to this very request, by this user's own IJFW."""
        if not self._subject:
            return None
        try:
            text = seal.unseal(self._project.roots, files.read_text(self._path))
            kept = msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=Kept)
        except (OSError, IjfwError, msgspec.MsgspecError, RecursionError):
            return None
        return kept if kept.request == self._subject else None


def forget(place: Roots, session: str) -> None:
    """What came of a session's answer is stored, so that the answer is not needed any more."""
    with suppress(OSError, IjfwError):
        files.remove(_answer_path(place, session), place.folder)


def _answer_path(place: Roots, session: str) -> Path:
    return place.folder / "run" / f"{digest(session)}{ANSWERS}"


def _counted(said: int, guess: int) -> int:
    """Tokens as the server counted them, where that can be true."""
    return said if 0 < said <= MOST_TOKENS else guess


def size_of(prompt: Prompt) -> int:
    """Bytes of text that a provider is given to send."""
    parts = (prompt.system, prompt.text, msgspec.json.encode(prompt.schema).decode())
    return sum(len(part.encode("utf-8", "surrogatepass")) for part in parts)


def _ask(send: Callable[[Prompt], Answer], prompt: Prompt) -> Answer:
    """Run a transport; raises ModelError, which it may raise itself, and PluginError."""
    seconds = min(prompt.seconds, CALL_SECONDS)
    if seconds <= 0:
        raise ModelError("no time is left")

    def ask() -> Answer | ModelError:
        try:
            answer = send(replace(prompt, seconds=seconds))
        except ModelError as error:
            return error
        if not isinstance(answer, Answer) or type(answer.text) is not str:
            return ModelError("the provider's plugin gave no Answer")
        if type(answer.input_tokens) is not int or type(answer.output_tokens) is not int:
            return ModelError("the provider's plugin counted no tokens")
        return answer

    with _guarded():
        answer = guard.run(ask, seconds, quote=False)
    if isinstance(answer, ModelError):
        raise answer
    return answer


@contextmanager
def _guarded() -> Iterator[None]:
    """Hooks of ours in anything that a provider starts do nothing."""
    before = os.environ.get(GUARD)
    os.environ[GUARD] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[GUARD]
        else:
            os.environ[GUARD] = before
