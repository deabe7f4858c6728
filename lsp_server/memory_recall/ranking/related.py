"""Words of the same matter: what a developer may have written where another word is asked for.

Owns a table of developers' subjects: names of tools above all, of which vectors of words know too little. It answers
where the query's own words have found nothing, or beside them at a discount, and so may be broad; but a word of
everyday language never opens a subject by itself. Knows no store and ranks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from memory_recall.text import tokens

# One paragraph a subject. The words and phrases between commas open it: a phrase needs all its words, and needs them
# side by side where one of them is a stop word. The words after + belong to it, but mean too many other things to open
# it.
_TABLE = """
package manager, package managers, dependency manager, dependencies, dependency, install packages, npm, pnpm, yarn,
bun, pip, pipenv, conda, cargo, bundler, npx, pypi, lockfile
+ package packages composer uv poetry maven gradle nuget homebrew brew apt install

auth, authentication, authorization, authenticate, authorize, login, log in, sign in, signin, signup, sign up, oauth,
oauth2, oidc, sso, saml, jwt, single sign on, passwords, password, credentials, okta, auth0, mfa, 2fa
+ session sessions cookie cookies bearer token tokens clerk keycloak cognito permissions roles rbac

database, databases, db, sql, postgres, postgresql, mysql, mariadb, sqlite, mongodb, mongo, dynamodb, cockroachdb,
orm, prisma, drizzle, sqlalchemy, typeorm, supabase, data store, datastore, database schema
+ schema migration migrations query queries table tables index replica redis cassandra planetscale neon

test, tests, testing, unit test, test runner, test framework, jest, vitest, pytest, mocha, playwright, cypress, junit,
rspec, e2e, end to end, integration test, coverage, tdd
+ fixture fixtures mock mocks snapshot selenium unittest hypothesis

deploy, deployment, deploys, hosting, hosted, hosting provider, production environment, go live, rollout, vercel,
netlify, heroku, kubernetes, k8s, helm, cloudflare, aws, gcp, azure
+ docker container containers fly render railway staging production release rollback server region ecs lambda

ci, cd, cicd, continuous integration, build pipeline, build server, github actions, gitlab ci, jenkins, circleci
+ pipeline pipelines workflow workflows actions runner runners build builds

css, styling, stylesheet, tailwind, sass, scss, bootstrap, shadcn, design system, css framework, ui library, component
library, dark mode
+ style styles theme themes theming colors fonts chakra radix mui

api, apis, endpoint, endpoints, graphql, grpc, rest api, openapi, swagger, trpc, web service
+ rest route routes routing gateway http json request response webhook webhooks

state management, global state, redux, zustand, mobx, pinia, vuex, recoil, jotai
+ store stores context signals

frontend, front end, user interface, ui framework, react, vue, svelte, angular, nextjs, nuxt, solidjs
+ remix component components jsx tsx astro vite hooks

backend, back end, web framework, fastapi, django, flask, rails, nestjs, laravel, fastify, spring boot
+ express server servers hono koa gin axum actix

error handling, exception, exceptions, bug, bugs, crash, crashes, stack trace, traceback, sentry
+ error errors issue issues fix broken failure failures panic

logging, logs, logger, observability, monitoring, metrics, tracing, telemetry, alerting, opentelemetry, grafana,
prometheus, datadog
+ log debug trace alerts dashboard kibana loki structlog winston pino

cache, caching, cached, redis, memcached, cdn
+ ttl invalidation memoize valkey

message queue, message broker, job queue, background job, background jobs, kafka, rabbitmq, sqs, celery, sidekiq,
pubsub
+ queue queues worker workers consumer consumers nats bullmq event events cron scheduler

linter, lint, linting, formatter, code formatting, code style, eslint, prettier, ruff, biome, pylint, flake8, rubocop
+ format formatting style indentation tabs semicolons black clippy

commit message, commit messages, version control, git, github, gitlab, bitbucket, pull request, merge request,
branching
+ commit commits branch branches merge rebase pr squash conventional

configuration, config, configs, environment variable, environment variables, env, dotenv, env var, env vars, feature
flag, feature flags, feature toggle
+ settings setting environment flags toggle toggles launchdarkly

secrets, secret, api key, api keys, credentials, key management, vault, kms
+ key keys token tokens password encryption doppler

bundler, build tool, build system, webpack, vite, rollup, esbuild, turbopack, makefile, bazel, turborepo,
monorepo
+ parcel build compile make nx workspace workspaces

infrastructure, infrastructure as code, terraform, pulumi, ansible, cloudformation, devops
+ cloud provisioning cluster aws gcp azure kubernetes

container, containers, docker, podman, dockerfile, docker compose, kubernetes, k8s
+ image images compose registry pod pods helm

timezone, time zone, datetime, date format, utc, timestamps
+ date dates time timestamp iso

validation, form validation, input validation, validate, zod, yup, pydantic, json schema
+ form forms input schema

type checking, type checker, static types, typescript, mypy, pyright, tsconfig
+ type types typing interface interfaces strict

payment, payments, billing, checkout, stripe, paypal, invoice, invoices, subscription, subscriptions
+ price pricing charge refund adyen webhook

documentation, docs, readme, docstring, docstrings, wiki
+ guide guides comments changelog mkdocs sphinx docusaurus

code editor, text editor, ide, vscode, neovim, vim, emacs, intellij, helix
+ editor zed sublime cursor

text search, full text search, elasticsearch, opensearch, algolia, meilisearch, typesense
+ search index lucene

file storage, object storage, s3, blob storage, upload, uploads, file upload
+ bucket buckets storage minio r2

rate limit, rate limiting, throttling, backoff, retry, retries
+ limit limits timeout timeouts circuit exponential

email, e-mail, smtp, sendgrid, mailgun, postmark
+ mail mails newsletter resend notification notifications

language model, llm, openai, anthropic, claude, gpt, embeddings, prompt engineering
+ model models prompt prompts gemini

kubernetes, k8s

javascript, js, ecmascript

typescript, ts

python, py

repository, repo, repositories

directory, folder, directories, folders

administrator, admin

development environment, dev environment, local setup, local development
+ localhost dev setup

production, prod

specification, spec, specs

naming convention, naming conventions, coding conventions, code conventions
+ names naming kebab camel snake pascal

accessibility, a11y
+ aria wcag

internationalization, i18n, localization, l10n, translations
+ locale locales language languages

performance, optimization, latency, slow queries
+ slow fast speed profiling benchmark

postmortem, post mortem, incident, outage, downtime
+ incidents rollback rolled pager

deadline, due date, milestone
+ deadlines schedule sprint roadmap

code owner, code review, reviewer, reviewers
+ review reviews approval approvals
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """One matter of developers, by stems.

    `words` and `phrases` open it (a phrase is a set of stems, `sequences` are stems joined and enclosed by spaces);
    `members` are its single words, each with its stem.
    """

    words: frozenset[str]
    phrases: tuple[frozenset[str], ...]
    sequences: tuple[str, ...]
    members: tuple[tuple[str, str], ...]

    def opened_by(self, asked: frozenset[str], sequence: str, own: tuple[str, ...]) -> frozenset[str]:
        """The stems by which a query with these stems, in this sequence, is about the subject; empty where it is not.

        A phrase decides it. A single word does where at least half of the query's `own` words belong to the subject:
        somebody who asks about knitting yarn does not mean a package manager.
        """
        phrases = [phrase for phrase in self.phrases if phrase <= asked]
        phrases += [frozenset(part.split()) for part in self.sequences if part in sequence]
        if phrases:
            return frozenset.union(*phrases, self.words & asked)
        belonging = self.words.union(stem for stem, _ in self.members)
        if 2 * sum(stem in belonging for stem in own) >= len(own) or len(own) == 1:
            return self.words & asked
        return frozenset()


def related_terms(query: str) -> tuple[str, ...]:
    """Single words of the subjects that a query opens, without the query's own; empty where it opens none.

    "package manager" gives npm, pnpm, yarn, bun and more. Rank them joined by spaces, as a query of their own.
    """
    found: dict[str, None] = {}
    for subject, _, asked in _opened(query):
        found.update(dict.fromkeys(word for stem, word in subject.members if stem not in asked))
    return tuple(found)


def related_stems(query: str) -> dict[str, tuple[str, ...]]:
    """For the stems of a query that open subjects, the stems of those subjects, without the query's own."""
    found: dict[str, dict[str, None]] = {}
    for subject, openers, asked in _opened(query):
        stems = dict.fromkeys(stem for stem, _ in subject.members if stem not in asked)
        for opener in openers:
            found.setdefault(opener, {}).update(stems)
    return {opener: tuple(stems) for opener, stems in found.items()}


def _opened(query: str) -> Iterator[tuple[Subject, frozenset[str], frozenset[str]]]:
    """The subjects that a query opens, each with the stems that open it, and all the stems of the query."""
    asked = frozenset(tokens.stems(tokens.terms(query)))
    own = tokens.query_words(query)
    sequence = _sequence(query)
    for subject in subjects():
        openers = subject.opened_by(asked, sequence, own)
        if openers:
            yield subject, openers, asked


@cache
def subjects() -> tuple[Subject, ...]:
    """The table, prepared once."""
    return tuple(_subject(paragraph) for paragraph in _TABLE.strip().split("\n\n"))


def _subject(paragraph: str) -> Subject:
    opening, _, belonging = paragraph.partition("+")
    cues = [" ".join(cue.split()) for cue in opening.split(",")]
    singles = [cue for cue in cues if " " not in cue]
    phrases = [cue for cue in cues if " " in cue]
    glued = [phrase for phrase in phrases if not tokens.STOP_WORDS.isdisjoint(phrase.split())]
    members: dict[str, str] = {}
    for word in (*singles, *belonging.split()):
        members.setdefault(_stem(word), word)
    return Subject(
        words=frozenset(_stem(word) for word in singles),
        phrases=tuple(frozenset(tokens.stems(phrase.split())) for phrase in phrases if phrase not in glued),
        sequences=tuple(_sequence(phrase) for phrase in glued),
        members=tuple(members.items()),
    )


def _stem(word: str) -> str:
    """The stem of a word of the table, its parts joined: e-mail as email, k8s as it is."""
    return tokens.stems(["".join(tokens.words(word))])[0]


def _sequence(text: str) -> str:
    return f" {' '.join(tokens.stems(tokens.words(text)))} "
