"""What the arrays of a segment hold.

Owns their names, dtypes and encodings. Whoever changes what an array means changes `segment.FORMAT`.
"""

from __future__ import annotations

import numpy as np

IN_TITLE = 0x8000
"""The bit of a frequency that says that the term stands in the title; the others hold the weighted frequency."""
MOST_FREQUENT = IN_TITLE - 1
WORD, JOINED = 0, 1
"""Kinds of terms: a word of a text; and what is joined from words, or cut out of one (a single CJK character)."""

# What each array holds, and its dtype.
LAYOUT = {
    "stems": np.uint8,  # the distinct stems, sorted, each with a newline behind it, in UTF-8
    "stem_ends": np.uint32,  # where each ends, before its newline
    "stem_terms": np.uint32,  # where the terms of each stem begin, and at last the number of terms
    "terms": np.uint8,  # the distinct terms, sorted by stem, then term, then kind, each with a newline behind it
    "term_ends": np.uint32,  # where each ends, before its newline
    "kinds": np.uint8,  # the kind of each term
    "starts": np.uint32,  # where the postings of each term begin, and at last the number of postings
    "documents": np.uint32,  # postings: numbers of documents, ascending within a term
    "frequencies": np.uint16,  # postings: how often the document has the term, weighted by field, and IN_TITLE
    "lengths": np.uint32,  # of each document: its characters
    "vectors": np.int8,  # of each document: its meaning, a row
    "scales": np.float32,  # what gives each of these rows unit length; 0 for a document without meaning
    "sum": np.float64,  # the sum of all rows, scaled
    "near_terms": np.uint32,  # the words that have a vector; these four as `meaning.Spelling` has them
    "near_pieces": np.uint16,
    "near_bounds": np.uint32,
    "near_scales": np.float32,
}
MATRICES = ("vectors",)
