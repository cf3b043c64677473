"""The intent of a prompt, and what makes it vague: the state that the prompt check shows."""

import re

from ijfw_plugins.signals_feedback.clauses import CODE, QUOTE, lower, mask

# The first group of words that a prompt holds, in this order, where no verb opens a clause.
_VERBS = (
    ("fix", r"fix|repair|debug|resolve|solve|broken|breaks?|crash\w*|fails?|failing|bug|error|doesn't work|not working|behebe?|repariere?|korrigier\w*|arregla|corrige|corriger?|répare|修复|修一下|报错"),
    ("test", r"test|tests|write tests|add tests|coverage|teste|prueba|tester|测试"),
    ("review", r"review|audit|critique|look over|double ?check|verify|check|prüfe?|überprüfe|revisa|vérifie|relis|检查|审查|看一下"),
    ("plan", r"plan|design|outline|propose|brainstorm|think (?:about|through|hard)|how (?:should|would|could) (?:we|you|i)|plane|entwirf|planifica|planifie|计划|设计|规划"),
    ("explain", r"explain|why|what|how|where|which|who|show|tell|describe|is|are|does|do|did|can i|was|erklär\w*|warum|wie|was|explica|por qué|qué|cómo|explique|pourquoi|comment|解释|为什么|怎么|什么"),
    ("build", r"add|build|create|implement|write|make|generate|scaffold|set ?up|introduce|füge?|baue?|erstelle|schreib\w*|añade|crea|implementa|ajoute|crée|写|添加|加|实现|创建"),
    ("change", r"change|update|rename|move|refactor|remove|delete|replace|convert|migrate|improve|optimi[sz]e|clean|simplify|use|upgrade|bump|drop|rewrite|revert|ändere|entferne|cambia|elimina|renombra|change|supprime|renomme|改|删|重构|替换|更新|优化"),
)  # fmt: skip
_OPEN = re.compile(
    r"^(?:\W|please|pls|can you|could you|would you|now|ok(?:ay)?|and|then|let's|lets|also|just|i want(?: you)? to|i'd like(?: you)? to"
    r"|we need to|you should|hey|hi|yes|no|so|bitte|por favor|s'il te plaît|帮我|请|麻烦)*",
)
_BARE = re.compile(
    r"^(?:it|this|that|them|these|those|everything|stuff|things|es|das|esto|eso|ça|cela)\b(?!\s+(?:\w+ly\s+)?[a-z]{4,})"
)
_PRONOUN = re.compile(
    r"\b(?:fix|change|update|improve|remove|delete|rename|move|refactor|test|explain|review|check|do|make|clean|simplify|optimi[sz]e)\s+(?:it|this|that|them|these|those)\b(?!\s+(?:file|function|class|test|method|page|code|module|bug|error|button|component|line|repo|project)\b)|(?:修复|改|检查|看)(?:一下)?(?:它|这个|那个)$"
)
_VAGUE = re.compile(
    r"\b(?:better|faster|nicer|cleaner|smarter|improve|improved|optimi[sz]e|clean(?: it| this)? up|more (?:robust|modern|efficient|readable|user.friendly)|besser|schneller|mejor|más rápido|mieux|plus rapide|polish)\b|更好|更快|优化"
)
_MEASURE = re.compile(
    r"\d|\b(?:so that|until|below|under|less than|at least|at most|percent|half|twice)\b|%"
)
_TARGET = re.compile(
    r"["
    + CODE
    + QUOTE
    + r"]|[\w-]+[./][\w./-]+|\w+_\w+|\b[a-z]+[A-Z]\w+|\b(?:function|class|file|test|tests|page|button|table|module|component|endpoint|route|schema|query|config|readme|docs?|header|column|field|branch|commit|script|parser|api|database|login|menu|form|build|pipeline|server|client|type|error|log|logs|message|package|dependency|list|view|model|index|cache|job|queue|hook|cli|command|flag|option|name|path)\b"
)


def intent(text: str) -> tuple[str, tuple[str, ...]]:
    """What a prompt wants (fix, build, change, explain, review, plan, test, other) and why it is vague.

    Vague: "no-target" (an order without a thing), "bare-pronoun" (it, this, that alone),
    "no-measure" (better or faster, without a measure).
    """
    sample = text[:2_000]
    plain = lower(mask(sample))
    kind = _kind(plain)
    vague = []
    words = len(plain.split())
    if kind in {"fix", "build", "change", "test"} and words <= 12 and not _TARGET.search(sample):
        if (
            not re.search(r"\b(?:the|a|an|our|my|der|die|das|el|la|le)\s+\w{3,}", plain)
            and plain.isascii()
        ):
            vague.append("no-target")
    if words <= 12 and _PRONOUN.search(plain):
        vague.append("bare-pronoun")
    if _VAGUE.search(plain) and not _MEASURE.search(plain):
        vague.append("no-measure")
    return kind, tuple(vague)


def _kind(plain: str) -> str:
    start = _OPEN.match(plain)
    head = plain[start.end() :] if start else plain
    for kind, words in _VERBS:
        if (
            re.match(rf"(?:{words})(?![^\W\d_])", head)
            or re.match(rf"(?:{words})", head)
            and not head[:1].isascii()
        ):
            return kind
    for kind, words in _VERBS[:4] + _VERBS[5:]:
        if re.search(rf"(?<![^\W\d_])(?:{words})(?![^\W\d_])", plain):
            return kind
    return "explain" if plain.rstrip().endswith(("?", "？")) else "other"
