"""Documents to rank, for properties: several scripts, joined and numbered names, accents, near words, empty ones."""

from __future__ import annotations

from hypothesis import strategies as st

from memory_recall.ranking.lexical import Document

WORDS = """
    auth login password token tokens deploy deployment server container docker kubernetes database databases sqlite
    migration cache caching email e-mail auth-flow authFlow user_id Node.js node nodejs sha256 sha512 v1 v2 HTTP404 429
    the of to using others having runs runner don't Café cafe naïve Straße ＡＰＩ 决策风格 决策 决 数据库 部署流程
    まとめ データ привет приветы नमस्ते xqzvkj asdf -- ... a-b-c-d to-do item777 item-777 URLs policy policies skies — 😀
""".split()  # noqa: SIM905

words = st.sampled_from(WORDS)
texts = st.lists(words, max_size=12).map(" ".join)
queries = st.lists(words, min_size=1, max_size=5).map(" ".join)
documents = st.builds(
    Document,
    st.lists(words, max_size=2).map(" ".join),
    texts,
    st.lists(words, max_size=2).map(tuple),
)
stores = st.lists(documents, max_size=10)
