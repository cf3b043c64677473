#!/bin/sh
# Runs IJFW from a package that cannot know where it is installed.
#   ijfw agent-hook PLATFORM EVENT    what an agent's hook calls: exit status 0, whatever happens
#   ijfw mcp                          the memory server
#   ijfw COMMAND...                   the command line
# The interpreter is the one that IJFW noted in its folder, else that of the ijfw on PATH.

home=${IJFW_HOME:-$HOME/.ijfw}
# Clients take a project's .env into their environment: a folder in a project is no home of ours.
if [ -n "$IJFW_HOME" ]; then
    real=$(CDPATH= cd -P -- "$home" 2>/dev/null && pwd -P)
    top=$(pwd -P)
    up=$top
    while [ -n "$up" ] && [ "$up" != / ]; do
        [ -e "$up/.git" ] && top=$up && break
        up=${up%/*}
    done
    case $real/ in "$top"/*) home=$HOME/.ijfw && unset IJFW_HOME ;; esac
fi
python=
[ -r "$home/python" ] && IFS= read -r python <"$home/python"
[ -n "$python" ] && [ -x "$python" ] || python=

# The first ijfw on PATH that is not this file: clients put the folder of this file there, too.
other() {
    found=
    rest=$PATH:
    while [ -z "$found" ] && [ -n "$rest" ]; do
        folder=${rest%%:*}
        rest=${rest#*:}
        case $folder in /*) ;; *) continue ;; esac # one that depends on where we are is no place
        [ -x "$folder/ijfw" ] && ! [ "$folder/ijfw" -ef "$0" ] && found=$folder/ijfw
    done
    [ -n "$found" ]
}

# Settings that call the hook themselves: then this one is silent, so that nothing runs twice.
connected() {
    name=$1
    case $name in
    claude-code) set -- "${CLAUDE_CONFIG_DIR:-$HOME/.claude}" "${CLAUDE_PROJECT_DIR:-.}/.claude" ;;
    gemini-cli) set -- "$HOME/.gemini" "${GEMINI_PROJECT_DIR:-.}/.gemini" ;;
    *) return 1 ;;
    esac
    grep -qs "hook\.py[^ ]* $name " "$1/settings.json" "$2/settings.json" "$2/settings.local.json"
}

if [ "$1" = agent-hook ]; then
    connected "$2" && exit 0
    [ -n "$python" ] && [ -f "$home/hook.py" ] && exec "$python" -I -S "$home/hook.py" "$2" "$3"
    other && exec "$found" hook --platform "$2" --install "$3" 2>/dev/null
    exit 0
fi
if [ -n "$python" ]; then
    [ "$*" = mcp ] && exec "$python" -I -m ijfw_core.mcp
    exec "$python" -I -c 'from ijfw_core.cli import main; main()' "$@"
fi
other && exec "$found" "$@"
echo "ijfw is not installed. In a shell: uv tool install ijfw" >&2
exit 127
