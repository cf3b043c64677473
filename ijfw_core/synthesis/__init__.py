"""For plugins that ask a model: one prompt, one way to read the answer. They bring the transport.

    @hookimpl
    def synthesize(request, context):
        if not request.model.startswith("mine:"):
            return None
        return synthesis.answer(request, context, host="models.example", send=send)

`send(prompt)` gives an `Answer` or raises `ModelError`; `wire.options` are those of an HTTP client
that reads no more than it should. Consent, budgets, the log of calls and redaction are the
kernel's, behind `context.models`. Importing this module costs nothing heavy.
"""

from collections.abc import Callable
from importlib.util import find_spec
from time import monotonic

from ijfw_hookspecs import Answer, Candidate, Context, Prompt, Request

__all__ = ["Answer", "ModelError", "Prompt", "Send", "answer"]

SPARE_SECONDS = 20.0  # of the time a plugin has, to log and read in

Send = Callable[[Prompt], Answer]


class ModelError(Exception):
    """A model was not asked, or of no use. The message is for the person: no text of an answer."""


def answer(
    request: Request,
    context: Context,
    *,
    host: str,
    send: Send,
    needs: str = "",
    extra: str = "",
) -> list[Candidate] | None:
    """Ask a model through `send`, and give what it made of the request.

    Args:
        request: as the hook was given it.
        context: as the hook was given it; without `context.models` nobody is asked.
        host: where the bytes go, for the log.
        send: the transport.
        needs: a module that `send` imports.
        extra: what to install where that is missing, as in `pip install 'ijfw[anthropic]'`.

    Result: candidates with their evidence, or None where the model could not be used: the kernel
    knows why, keeps what was heard for another try, and asks the next plugin.
    """
    from ijfw_core.synthesis import prompt, reply

    models = context.models
    if models is None:
        return None
    if needs and find_spec(needs) is None:
        models.failed(f"{request.model} needs a package that is not there: {extra}")
        return None
    seconds = context.deadline - monotonic() - SPARE_SECONDS if context.deadline else 60.0
    try:
        text = models.call(prompt.render(request, seconds), host, send)
        return reply.parse(text, request)
    except ModelError as error:
        models.failed(str(error))
        return None
