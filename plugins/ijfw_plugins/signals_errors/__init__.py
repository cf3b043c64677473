"""Plugin signals-errors: errors of an agent's tools, and the changes that made them pass.

Sees raw tool results. Results that failed, by the platform's word or by their text, give a signal
`error`; a later success of the same command gives a signal `fix` with the same key.
"""

from collections.abc import Sequence

from ijfw_hookspecs import AgentEvent, Context, Signal, hookimpl

# One of these is in the result of nearly every tool that failed and does not say so itself.
LITERALS: tuple[bytes, ...] = tuple(
    (
        "rror|ERR|xception|Traceback|ailed|FAIL|atal|FATAL|panic|denied|ot found|o such|annot|"
        "n't |refused|timed out|undefined|rejected|ONFLI|not ok|BackOff|Killed|ation fault|"
        "nvalid|nable to| *** |** (|terminate called|No module|: F|: E|-->|assert|ould not| SC|"
        "required|attempt to|recognized|unbound|curl: (|ould reformat|Code style|Diff in /|"
        "not used|xpected|nterminated|Exiting due|not installed|not permitted|HTTP 4|auth login|"
        "control sequence|no matches found|core dumped|nknown|s a directory|not allowed|"
        "not created| is not |issing|wrong |requires |does not |must be|locked|exceed|expired|"
        "already |changed significantly|No available|duplicate |iving up|data race|RACE|emfile|"
        "No solution|read only|eadonly|too |Name or service|o version|non-existent|leaks found|"
        "railing whitespace|Terminated|nmatched| taken|sealed| reached|orrupt|signal SIG|"
        "or update .NET|stop reason|tests ran|problem| lost|out of date|frozen|did not |ailure|"
        "ITICAL|FTL]|Confidence: |Unused |vulnerab|/advisories/|o route to|: need|o devices|"
        "Style/|can be fixed|not formatted| is void| DL|checks reported|az login|[R] |unhealthy|"
        " stale| needed|.proto:|sending signal|YN00| MD0|: C: |\N{BLACK CIRCLE}|"
        "\N{HEAVY MULTIPLICATION X}|icht gefunden|introuvable|encontrad|non trovat|ehl|chwerwieg|"
        "rreur|erechtigung|No existe|Aucun fichier|EHLER: |refusée|negad|negat|non accordée|"
        "bestaat niet|dizin yok|bulunamad|nalezen|hittades|finns inte|znalez|Nie ma |nte nicht|"
        "mpossib|o se pu|échou|ie można|kan niet|шибка|не найден|Нет так|Отказано|е удалось|错误|"
        "未找到|冲突|没有那个|权限|无法|失败|拒|失敗|ありません|つかりません|찾을 수|디렉터리|실패"
    )
    .encode()
    .split(b"|")
)

_RELEVANT = ("shell", "mcp", "other", "read", "edit")


@hookimpl
def on_signal(event: AgentEvent, context: Context) -> Sequence[Signal] | None:
    """The error in a tool result, or the fix that a success shows; None for everything else."""
    tool = event.tool
    if event.kind != "tool_end" or tool is None or tool.is_ours or tool.kind not in _RELEVANT:
        return None
    from ijfw_plugins.signals_errors import fix, judge

    error = judge.error(tool, event.cwd)
    if error is not None:
        return [error]
    return fix.fixes(event, context) or None
