"""Kinds of things and what belongs to them: "which database" is answered by "we took Postgres".

A question often names a kind where memory names one of it, and they share no word. The table is
small and general: what agents are asked about code first, then what people talk about. A word
stands under a kind where it is one whoever says it; what is common in a memory counts little,
so "go" or "rest" do no harm.
"""

from collections.abc import Mapping, Set
from functools import cache, lru_cache

from ijfw_plugins.search_bm25 import words

_BEGINS = 2  # characters
# Names of a kind: its members. All words of a name with "-" in it must be asked for.
_CODE = """
database datastore: postgres mysql mariadb sqlite mongodb mongo redis dynamodb cassandra oracle
    duckdb clickhouse cockroachdb elasticsearch neo4j supabase firestore snowflake bigquery mssql;
storage bucket: s3 minio gcs blob nfs disk volume filesystem;
cache: redis memcached varnish lru cdn;
queue broker messaging: kafka rabbitmq sqs nats celery pubsub sidekiq mqtt zeromq;
language: python rust go golang java kotlin javascript typescript c++ c# ruby php swift scala
    elixir erlang haskell lua perl zig julia dart clojure fortran sql bash english french german
    spanish italian portuguese dutch russian chinese japanese korean arabic hindi latin;
framework: django flask fastapi rails react vue angular svelte nextjs next.js nuxt spring express
    laravel symfony phoenix gin axum actix remix astro qt electron flutter;
test-runner test-framework test-library: pytest unittest jest vitest mocha junit
    cypress playwright selenium rspec hypothesis tox nox testcontainers;
package-manager packages-installed installer: npm pnpm yarn bun pip uv poetry pipenv conda cargo
    maven gradle bundler composer nuget brew apt;
build-tool build-system bundler compiler: make cmake bazel ninja meson gradle maven webpack vite
    esbuild rollup turbopack gcc clang msvc tsc babel swc;
linter formatter lint style-checker: ruff black flake8 pylint isort eslint prettier biome clippy
    rustfmt gofmt shellcheck rubocop checkstyle;
type-checker: mypy pyright pyre tsc;
editor ide: vim neovim emacs vscode intellij pycharm zed cursor sublime xcode;
cloud host: aws gcp azure heroku vercel netlify cloudflare
    fly.io render digitalocean hetzner linode lambda ec2 fargate railway;
container orchestrator: docker podman kubernetes helm compose nomad swarm containerd;
infrastructure provisioning: terraform pulumi ansible puppet chef cloudformation helm;
ci pipeline continuous-integration: github-actions actions gitlab jenkins circleci travis buildkite
    tox drone teamcity;
monitoring observability metrics alerting tracing: grafana prometheus datadog sentry opentelemetry
    kibana loki newrelic jaeger cloudwatch pagerduty;
authentication auth login: oauth oidc jwt token saml sso password session
    cookie ldap passkey totp keycloak okta auth0 login;
protocol api-style: http grpc rest graphql websocket mqtt tcp udp soap amqp ssh ftp rpc;
format serialization: json yaml toml xml csv tsv protobuf parquet avro msgpack markdown html pdf
    ini excel png svg;
platform os operating-system distribution distro: linux ubuntu debian fedora alpine arch centos
    macos windows android ios nixos bsd;
browser: chrome chromium firefox safari edge;
shell: bash zsh fish powershell;
orm query-builder: sqlalchemy prisma hibernate typeorm drizzle sequelize activerecord knex jooq;
payment: stripe paypal adyen mollie braintree klarna visa mastercard iban;
mail email: sendgrid mailgun postmark ses smtp imap mailchimp gmail outlook;
llm language-model ai-model: gpt claude gemini llama mistral qwen deepseek openai anthropic ollama;
licence license: mit apache gpl agpl lgpl mpl bsd proprietary;
error exception crash failure bug fault: exception traceback panic segfault timeout deadlock leak
    oom crash bug fail null overflow corrupt race;
version-control vcs: git mercurial svn perforce github gitlab bitbucket;
chat messenger: slack discord teams matrix whatsapp telegram signal irc;
tracker ticketing: jira linear github redmine trello asana youtrack;
architecture: monolith microservice serverless monorepo hexagonal layered event;
vulnerability attack: xss csrf injection ssrf overflow phishing cve
"""
_LIFE = """
activity hobby pastime leisure interest fun destress unwind relax: hike camp swim run jog walk bike
    cycling climb ski skate surf kayak boat sail fishing garden paint draw sketch pottery knit sew
    craft cook bake read write photography dance sing music guitar piano yoga gym chess game puzzle
    travel movie concert theater museum picnic volunteer sport;
outdoor: hike camp walk bike climb ski surf kayak boat fishing garden picnic park trail
    mountain beach lake forest;
indoor: read paint cook bake chess game puzzle yoga movie knit museum gym;
sport athlete: football soccer basketball baseball tennis golf hockey rugby volleyball cricket swim
    run marathon race cycling ski snowboard surf skate boxing gymnastics karate wrestling climb game
    match tournament championship coach league team bowling;
exercise workout fitness: run jog swim yoga pilates gym weights cycling bike hike walk
    stretch boxing karate dance climb squat treadmill marathon aerobics cardio;
music genre: rock jazz pop classical rap folk blues metal punk soul country concert song album band
    singer playlist festival guitar piano;
instrument: guitar piano violin drum flute clarinet saxophone cello trumpet bass ukulele harp;
band musician singer artist: song album concert music tour gig rock jazz pop guitar;
food meal dish cuisine recipe snack diet dessert ingredient: pizza pasta salad soup sandwich burger
    rice noodle sushi taco curry bread cake cookie pie chocolate cheese egg chicken beef pork fish
    salmon meat steak bean tofu vegetable fruit apple banana berry nut dinner lunch breakfast cook
    bake eat restaurant cream sauce;
drink beverage: coffee tea water juice soda beer wine cocktail smoothie milk;
pet animal wildlife: dog cat puppy kitten bird parrot fish rabbit hamster turtle tortoise snake
    lizard frog horse pony cow pig sheep goat duck bear wolf fox deer elephant lion tiger monkey
    terrier;
breed: retriever labrador shepherd poodle terrier bulldog beagle husky spaniel collie mix siamese
    persian;
family relative sibling: mother mom father dad parent sister brother son daughter child kid baby
    wife husband aunt uncle grandma grandmother grandpa grandfather cousin niece nephew;
relationship marital: married single divorce wedding engaged girlfriend boyfriend partner
    husband wife date breakup;
job career profession occupation employment: engineer teacher nurse doctor manager developer
    designer lawyer writer chef artist boss colleague hired promotion interview intern
    salary;
place location destination landmark spot: park beach mountain lake river forest island trail
    restaurant cafe museum gallery shop store hotel city town village church castle garden farm;
country nation abroad overseas: america usa canada mexico brazil argentina chile peru england
    britain uk ireland scotland france spain portugal italy germany austria switzerland netherlands
    belgium denmark sweden norway finland iceland poland greece turkey russia ukraine egypt morocco
    kenya nigeria israel india nepal pakistan china japan korea thailand vietnam indonesia
    philippines singapore australia zealand europe asia africa;
city town: london paris berlin rome madrid barcelona lisbon vienna amsterdam prague dublin tokyo
    kyoto seoul beijing shanghai singapore bangkok delhi mumbai sydney melbourne toronto vancouver
    montreal boston chicago seattle miami dallas houston york francisco angeles vegas utrecht;
state region: california texas florida oregon washington colorado arizona nevada alaska hawaii
    michigan minnesota ohio illinois virginia carolina georgia massachusetts pennsylvania midwest
    coast;
vehicle transport: car truck van bus train plane flight boat ship bike bicycle motorcycle scooter
    taxi;
health illness disease ailment symptom medical: pain sick doctor hospital surgery injury
    hurt fever cold flu cough headache allergy asthma diabetes cancer heart blood weight stress
    anxiety depression medicine therapy diagnosis checkup;
injury injured accident mishap: hurt broke ankle knee leg arm wrist shoulder sprain cut fall crash
    hospital;
emotion feeling mood: happy sad angry afraid scared anxious nervous excited proud lonely upset
    grateful stressed tired joy love worry frustrated;
trait attribute temperament: caring thoughtful honest brave strong patient
    generous loyal creative confident ambitious determined passionate supportive friendly funny shy
    curious smart resilient;
identity gender: woman man transgender nonbinary gay lesbian queer straight lgbtq;
religion religious faith spiritual belief: church pray prayer god bible mosque temple christian
    jewish muslim buddhist hindu;
art craft artwork: painting draw sketch sculpture pottery clay photo mural canvas watercolor
    collage knit sew;
color colour: red orange yellow green blue purple pink brown black white gray;
clothes outfit wear fashion: shirt dress shoe boot hat cap jacket coat jeans pants skirt
    sweater scarf sock;
weather climate: rain snow sunny storm wind warm fog heat hot cold;
celebration occasion festivity: christmas thanksgiving easter halloween birthday anniversary wedding
    party festival;
education school study: university college class course student teacher graduate exam lesson
    diploma certificate math science history;
book novel literature: read series fiction fantasy mystery chapter library writer poem
    biography story;
movie film: watch cinema actor director series episode season comedy drama horror netflix
    trilogy;
game: chess poker card board console xbox playstation nintendo multiplayer puzzle tournament level;
money finance financial: pay debt loan rent salary budget cost price bank save
    invest afford bill tax;
item purchase gift possession: shirt toy book necklace ring watch bag lamp
    furniture;
toy: doll bear lego puzzle ball robot;
event gathering: party wedding conference concert festival meeting workshop parade fundraiser
    ceremony exhibition fair tournament reunion;
device gadget hardware electronics: phone laptop tablet camera computer printer monitor keyboard
    headphones router console;
charity volunteering: donate fundraiser shelter homeless
    nonprofit campaign;
plant flower: rose tulip lily sunflower daisy orchid tree herb tomato basil garden seed;
furniture: chair table sofa couch bed desk shelf lamp;
symbol: flag necklace ring tattoo rainbow cross heart eagle
"""


def members(asked: Set[str]) -> dict[str, list[str]]:
    """The terms that belong to the kinds that a question names, by the first term of the name.

    >>> members({"databas", "use"})["databas"][:2]
    ['postgr', 'mysql']
    """
    found: dict[str, list[str]] = {}
    for term in asked:
        for name, inside in _named(term):
            if asked >= name:
                found.setdefault(term, []).extend(_terms(inside, asked))
    return found


@lru_cache(maxsize=1 << 12)
def _named(term: str) -> tuple[tuple[Set[str], str], ...]:
    """The kinds of whose names a term is the first: all terms of the name, and the members.

    Stems are made when they are needed: all of them take a new process 5 ms and more.
    """
    names = ((_stems(name), inside) for name, inside in _table().get(term[:_BEGINS], ()))
    return tuple((frozenset(stems), inside) for stems, inside in names if stems[0] == term)


@cache
def _table() -> Mapping[str, list[tuple[str, str]]]:
    """Names and members, by what a name begins with, which its stem has too."""
    found: dict[str, list[tuple[str, str]]] = {}
    for kind in f"{_CODE};{_LIFE}".split(";"):
        names, inside = kind.split(":")
        for name in names.split():
            found.setdefault(name[:_BEGINS], []).append((name, inside))
    return found


@cache
def _stems(name: str) -> tuple[str, ...]:
    return tuple(stem for part in name.split("-") for stem in words.word_terms(part)[:1])


def _terms(inside: str, asked: Set[str]) -> list[str]:
    return [t for word in inside.split() for t in words.word_terms(word)[:1] if t not in asked]
