"""Forms of a word that no rule leads back to it: irregular English, what the stemmer keeps apart
("failure", "fail"), and what programmers shorten.

Only what means the same wherever it stands: "leaves", "rose" and "better" are several words, and
"src", "lib" or "py" are parts of paths far more often than they are words.
"""

_IRREGULAR = """
    arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun;
    bend bent; bind bound; bite bit bitten; blow blew blown; break broke broken; bring brought;
    build built; burn burnt; buy bought; catch caught; choose chose chosen; come came; creep crept;
    deal dealt; dig dug; draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten;
    fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled; fly flew flown;
    forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
    freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown;
    hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew known; lead led;
    lend lent; lose lost; make made; mean meant; meet met; mistake mistook mistaken;
    override overrode overridden; overwrite overwrote overwritten; pay paid; prove proven;
    rewrite rewrote rewritten; ride rode ridden; ring rang rung; rise risen; run ran; say said;
    see seen; seek sought; sell sold; send sent; shake shook shaken; shine shone; shoot shot;
    show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept;
    slide slid; speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen;
    stick stuck; strike struck; strive strove; swear swore sworn; sweep swept; swim swam swum;
    take took taken; teach taught; tear tore torn; tell told; think thought;
    throw threw thrown; understand understood; undo undid undone; wake woke woken; wear wore worn;
    win won; withdraw withdrew withdrawn; write wrote written;
    child children; criterion criteria; foot feet; half halves; index indices; man men;
    matrix matrices; mouse mice; person people; shelf shelves; tooth teeth; vertex vertices;
    wife wives; woman women
"""
_NOUNS = """
    analyze analysis; choose choice choices; compare comparison; decide decision decisions;
    describe description; fail failure failures; resolve resolution; respond response responses
"""
_SHORT = """
    address addr; argument arg args; attribute attr attrs; button btn; certificate cert certs;
    command cmd cmds; configuration config configs cfg; context ctx; credential creds;
    database db dbs; dependency dep deps; development dev; directory dir dirs; document doc docs;
    environment env envs; error err; function func funcs fn; implementation impl;
    kubernetes k8s; message msg msgs; package pkg pkgs; parameter param params;
    performance perf; permission perms; postgres postgresql; preference pref prefs;
    production prod; repository repo repos; specification spec specs; statistics stats;
    timezone tz; vulnerability vuln vulns
"""
FORMS = {
    form: word
    for word, *forms in map(str.split, f"{_IRREGULAR};{_NOUNS};{_SHORT}".split(";"))
    for form in forms
}
