"""Words as texts use them: a vocabulary whose frequencies fall as in real prose, and memories and queries from it.

Zipf and Mandelbrot: the word of rank r comes up in proportion to 1/(r + 2.7)^1.05 (Mandelbrot 1953). Heaps: T running
words hold about 10·√T distinct ones, so 100,000 memories have about 30,000. Frequent ranks are English function words,
because rankings treat those apart; then words that developers write; then invented ones that are spoken and inflected
like English, so that stemmers have their work. A memory returns to a few words of its own, as a text on one matter
does. Everything follows from a seed. Knows no store.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple


def in_order(words: str) -> tuple[str, ...]:
    """A text as its words."""
    return tuple(words.split())


FUNCTION_WORDS = in_order("""
the to and of a in is for that it with on be as this we not are by from or have at was an but if they you can will
when all so which has no their then there what more only do must use been our one after should would its into than
were also does how before never because who each where about any out other some these may them up had always most
between while during both through same such over under until without
""")

DEVELOPER_WORDS = in_order("""
user test code data service error time run build request server file deploy config key token cache database release
branch version queue retry timeout client session login api endpoint schema migration table index log worker job
event webhook payment invoice order customer account email password secret certificate network port host container
image cluster node pod region backup restore rollback feature flag review merge commit pipeline runner artifact
package dependency upgrade library module function class method type interface handler router middleware frontend
backend browser page component style theme locale translation currency date timezone format parser encoder decoder
stream buffer socket connection pool lock thread process memory disk quota limit budget alert metric dashboard
trace incident outage postmortem runbook owner team meeting decision deadline policy audit permission role scope
grant access refresh signature header cookie domain proxy gateway balancer shard replica leader election snapshot
checkpoint archive export import report search query filter ranking score vector model training inference prompt
agent tool plan goal task note preference editor terminal shell script variable environment production staging
sandbox fixture mock coverage benchmark latency throughput regression refactor cleanup documentation changelog
license
""")

INFLECTIONS = ("", "", "", "s", "ed", "ing", "er", "ly", "tion", "able")
WORDS_EACH = 85
"""Running words of a memory on average: about 0.6 KB."""
HEAPS = 10
ABSENT = "xq"
"""What words begin with that are in no memory."""
OWN_WORDS = 6
OWN_SHARE = 0.2


class Text(NamedTuple):
    """One memory, whatever store will hold it. `topics` are the words it returns to, the most frequent first."""

    title: str
    body: str
    topics: Sequence[str]


class Vocabulary:
    """The distinct words of a collection of that many memories, by falling frequency."""

    def __init__(self, memories: int) -> None:
        size = max(len(FUNCTION_WORDS) + 100, round(HEAPS * math.sqrt(memories * WORDS_EACH)))
        self.words = list(itertools.islice(_all_words(), size))
        self._cumulative = list(itertools.accumulate(1 / (rank + 2.7) ** 1.05 for rank in range(1, size + 1)))
        self._contents = size - len(FUNCTION_WORDS)

    def running(self, chance: random.Random, count: int) -> list[str]:
        """So many words as they follow in a text, frequent ones often."""
        return chance.choices(self.words, cum_weights=self._cumulative, k=count)

    def topics(self, chance: random.Random, count: int) -> list[str]:
        """So many different words that mean something, at all frequencies alike (log-uniform in their rank)."""
        ranks: set[int] = set()
        while len(ranks) < count:
            ranks.add(int(self._contents ** chance.random()))
        return [self.words[len(FUNCTION_WORDS) + rank - 1] for rank in sorted(ranks)]


def _all_words() -> Iterator[str]:
    """Every word there is, the most frequent first, none twice."""
    known: set[str] = set()
    for word in itertools.chain(FUNCTION_WORDS, DEVELOPER_WORDS, _invented()):
        if word not in known:
            known.add(word)
            yield word


def _invented() -> Iterator[str]:
    chance = random.Random("invented words")
    onsets = in_order("b c d f g h k l m n p r s t v b c d f g l m n p r s t br ch cl cr gr pl pr sh st th tr")
    vowels = in_order("a a a e e e i i o o o u u ea ou")
    codas = ("", "", "", "", "", "", "n", "r", "l", "s", "t", "m", "nd", "ck")
    while True:
        root = "".join(
            chance.choice(onsets) + chance.choice(vowels) + chance.choice(codas)
            for _ in range(chance.choice((1, 2, 2, 3)))
        )
        if len(root) > 3:
            yield root + chance.choice(INFLECTIONS)


def texts(memories: int, seed: int) -> Iterator[Text]:
    """That many memories, of 5 to 280 words, about 0.6 KB on average."""
    vocabulary = Vocabulary(memories)
    chance = random.Random(f"{seed}/{memories}")
    for _ in range(memories):
        length = min(280, max(5, round(chance.lognormvariate(math.log(WORDS_EACH) - 0.18, 0.6))))
        words = vocabulary.running(chance, length)
        topics = vocabulary.topics(chance, OWN_WORDS)
        for position in chance.sample(range(length), max(1, round(length * OWN_SHARE))):
            words[position] = chance.choice(topics)
        if length > 40:
            words[chance.randrange(length)] = str(chance.randrange(1_000))
        yield Text(" ".join(topics[:4]).capitalize(), _prose(words, chance), topics)


def _prose(words: Sequence[str], chance: random.Random) -> str:
    sentences = []
    start = 0
    while start < len(words):
        end = start + chance.randint(6, 18)
        sentences.append(" ".join(words[start:end]).capitalize() + ".")
        start = end
    return " ".join(sentences)


def queries(memories: int, samples: Sequence[Sequence[str]], count: int, seed: int) -> list[str]:
    """Varied questions of 2 to 5 words. `samples` are the topics of some memories of the collection.

    Of ten questions four take words of one memory, three are running text (its function words and all), one has a
    typo, one a word that is nowhere, one nothing but such words.
    """
    vocabulary = Vocabulary(memories)
    chance = random.Random(f"queries/{seed}/{memories}")
    asked = []
    for number in range(count):
        length = chance.randint(2, 5)
        words = chance.sample(list(chance.choice(samples)), length)
        kind = number % 10
        if kind in (4, 5, 6):
            words = vocabulary.running(chance, length)
        elif kind == 7:
            words[0] = misspelt(words[0], chance)
        elif kind == 8:
            words[-1] = ABSENT + words[-1]
        elif kind == 9:
            words = [ABSENT + word for word in words]
        asked.append(" ".join(words))
    return asked


def misspelt(word: str, chance: random.Random) -> str:
    """The word with two neighbouring letters changed round somewhere behind the first, or a letter doubled."""
    places = [
        place for place in range(1, len(word) - 1) if word[place] != word[place + 1] and word[place + 1].isalpha()
    ]
    if not places:
        return word + word[-1]
    place = chance.choice(places)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
