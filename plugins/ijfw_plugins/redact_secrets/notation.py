"""How a value is joined to its name, in every notation, and how it begins and ends."""

import re

from ijfw_plugins.redact_secrets.lazy import lazy

REST = lazy(r"(?:(?![是为為は는은])[\w.-]){0,40}+")  # of a name, from the end of its keyword
# From the end of the name: how the value is joined to it.
JOIN = lazy(
    r"""(?:
      (?P<typed>(?=[: \t])
         (?::[ \t]{0,2}(?:&?'[a-z]{1,10}[ ]|[&']|\[\]const[ ]|\*const[ ])?(?:\[&?(?=\w+[;\]]))?
           |[ \t]{1,2}(?=[a-z]|As ))
         (?=[\w<>()\[\].|?&'; \t]{1,33}+=)
         [A-Za-z][\w<>()\[\].|?&'; ]{0,30}?[ \t]{0,2}=[ \t]{0,4}(?:N|\*(?=b))?
         (?=(?:[A-Za-z][\w.]{1,30}\((?:[a-z]{1,10}=)?|[bBrR]{1,2}(?=["']))?\\*["'`]))
     |(?P<line>(?=[\s:,][^\n]{0,92}+\n|\n)(?:[ ]\([^()\n]{1,30}\))?
         (?:[ \t]{0,4}|(?:,?[ ][a-z][\w ,()-]{1,46}+)?:[ \t]{0,4}(?=\r?\n\S)
           |(?:[ ][a-z][\w ()-]{1,46}+(?=:))?:?[ \t]{0,4}(?=\r?\n\r?\n))
         \r?\n(?:\r?\n)?(?:```\w{0,10}\r?\n)?[ \t]{0,24}(?=\S{8,300}[ \t]{0,8}(?:\r?\n|\Z)))
     |(?P<pair>(?=[\\"'\s:=,{])\\*["']?
         (?:[ \t]{0,4}(?:[:=][ \t]{0,4})?[,{]\s{0,40}+|\s{1,44}+
           |[ \t]{0,4}:[ \t]{0,4}\r?\n[ \t]{1,40}+)-?[ \t]{0,4}
         (?=\\*+["']?(?:[a-z]{1,12}:(?=[A-Za-z]))?[A-Za-z][\w-]{1,24}+\\*+["']?
            [ \t]{0,12}+[:=])
         (?:\\*+["']?(?:[a-z]{1,12}:(?=[A-Za-z]))?[A-Za-z][\w-]{1,24}+\\*+["']?
            [ \t]{0,12}+[:=][ \t]{0,4}+
            (?:\\*+["'][^"'\\\n]{0,80}+\\*+["']|[\w.-]{1,24}+|\{[^{}\n]{0,60}+\}
              |\n[ \t]{1,20}type:[ ]\w{1,12}+)
            [ \t]{0,4}+(?:,\s{0,40}+|\r?\n[ \t]{0,40}+|(?<=[ ])(?=[\w:]{1,30}=\\*["']))){0,5}?
         \\*["']?(?:[a-z]{2,12}:)?(?:[A-Za-z]{0,12}[Vv]alue|val|default|content|example)
         \\*["']?[ \t]{0,12}[:=][ \t]{0,4})
     |(?P<row>\\*["']\r?\n[ \t]{0,8}\d{1,4}\)[ ](?=\\*["']))
     |(?P<op>(?:[ ]\[[^\[\]\n]{1,24}\](?=:)|\[\d{0,4}\](?=[ ]?=))?
         (?:\\*["'`\])*>]|&quot;|&\#3[49];){0,4}[ \t]{0,40}+
         (?:(?:\|\||[?+])?={1,3}|=>|:-(?=[\w$])|:=?(?![:?])|:-(?!>)|->|<-(?=[ ]?["'])
           |::[ ](?=[A-Za-z0-9+/]{12})|→|➜|⇒|\?[ ][…›»][ ]
           |：|[|│┃║](?![ ]?["']))
         >?(?![=>:])
         (?:[ \t]{0,4}(?:(?:process\.env|import\.meta\.env|ENV|os\.environ|env)
              [.\[]?[\w"'\]]{0,48}|[a-z][\w.]{2,30}\([^()\n]{0,60}\))[ \t]{0,4}
            (?:\|\||\?\?|or)[ \t]{0,4}(?=\\*["'`]))?
         \*{0,2}[ \t]{0,12}(?:<(?:code|kbd|b|tt|strong|pre|em)>|!!(?:str|binary)[ ])?
         (?:\[(?=[^\s\[\]"'<>(),]{8,400}\](?:[,}\s]|\Z)))?
         (?:[|>][+-]?[ \t]{0,4}(?=\r?\n))?(?P<nl>(?:\r?\n[ \t]{1,24})?))
     |(?P<item>(?=[\\"',\s])\\*["']?,?[ \t]{0,4}\r?\n[ \t]{0,24}-[ ]+(?=["']?[^\s-]))
     |(?P<args>(?=[\\"',\s])\\*["']?[ \t]{0,2},[ \t]{0,24}(?=\\*["'`]))
     |(?P<field>(?=[\]\\"'/])(?:\]?\\*["']|/[a-z]?)
         (?:\)?\)?\.(?:type|fill|send_keys|sendKeys|setValue|type_text|typeText|enterText
            |clear_and_type|press_sequentially|pressSequentially)\([ \t]{0,2}
          |,?[ ]with:?[ ]
          |[)\]]{1,2},[ \t]{0,3}
          |[)\]]{1,2}[ \t]{0,3}
             (?:\{|\?\?|\?:|\|\||or|\.(?:unwrap_or|orElse|getOrElse)\()[ \t]{0,3})
         (?=\\*["'`]))
     |(?P<call>[({][ \t]{0,2}(?=\\*["'`]))
     |(?P<xml></(?:[Kk]ey|[Nn]ame)>\s{0,40}<(?:string|[Vv]alue)[^<>]{0,40}>
         |</(?:t[hd]|dt|b|strong|label|span)>\s{0,20}<(?:td|dd|code|span)[^<>]{0,40}>(?:<code>)?
         |\\*["']?>(?:\s{0,20}<[Vv]alue>|</td>\s{0,20}<td[^>]{0,40}>|<!\[CDATA\[)?)
     |(?P<prose>\\*["'`*]{0,3}(?:[ ]API(?=[ ])
           |[ ](?:d['’]|d[ei][ ])?(?:API|[Aa]cc[eè]so?|[Aa]cesso|secret[ao]|ordine)(?=[ ]?[:：])
           |[ ]d['’]ordine(?=[ ])|[ ][^\W\d_a-zA-Z]{2,14}(?=[ ]?[:：]))?
           (?:[ \t]+(?:for|of|on|to|at|in|I|used|we|you|für|von|vom|zum|zur
             |der|des|du|de|di|del|dela|della|da|do|dos|para|pour|per|al|alla|allo|till|til|för|voor|van|på|do|aus|от|для|до|к)\b
           [ \t]+[\w.@/ \t-]{1,40}?|[ ](?:here|there|again|currently|atm|today|hier|ici|aquí|qui))?
         (?=[ \t:=是为為は는은])
         (?:[ \t]+(?:is|(?:was|has[ ]been)[ ](?:changed|set|reset)[ ]to
            |was|are|will[ ]be|became|set[ ]to|changed[ ]to|to|as|ist|lautet|est|es|è|é|je
            |är|jest)\b
            (?:[ ](?:now|set[ ]to|still|currently))?[ \t]*:?
          |(?<=passe)[ ][a-zà-ÿ]{4,14}[ ]?:|[ \t]{1,2}[-–—](?=[ \t])
          |(?<=[\w)])[ ]?[:=](?![:=])|[ \t]?[是为為は는은][：:]?)[ \t]*)
     |(?P<space>\\*["'`*]{0,2}[ \t]{1,8})
    )""",
    re.X,
)
QUOTE = lazy(
    r"[bBrRfFuUN@$]{0,2}(?:[\"'](?=\\+[\"']))?(?:'(?=\")|\"(?='))?"  # quotes around quotes
    r"(\\*[\"']|`{1,3}|&quot;|&#3[49];|“|‘|«[ \u00a0\u202f]?"
    r"|\*\*(?=\w)|\{(?:noformat|code)\})"
)
WRAPPER = lazy(
    r"(?:\[\]byte\(|\[|\(|\{|!!str |!unsafe |new |string\(\d{1,4}\)"
    r"|[A-Za-z_][\w.]{2,40}\((?:\r?\n[ \t]{1,40})?(?:[a-z]{1,10}=)?|[A-Za-z]{1,12}::from\("
    r"|\(\r?\n[ \t]{1,40}(?=[bBrR]?[\"'][A-Za-z0-9+/_=-]{16,}[\"']))"
    r"[ \t]{0,2}(?=[bBrRfF]?\\*[\"'`])"
)
# Joins that are judged as another one.
SAME = {"nl": "op", "row": "pair", "item": "space"}
CLOSING = {"“": "”", "‘": "’", "«": "»", "« ": " »", "«\u00a0": "\u00a0»", "«\u202f": "\u202f»"}
