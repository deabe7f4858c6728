"""Which memories a text cites, and where: the grammar of references in notes.

Explicit references name their system and are returned whether or not they lead anywhere: `[[nemp:auth-flow]]`,
`nemp:auth-flow`, the argument of a written `/nemp:recall auth-flow`. Implicit ones are returned only if `Known` knows
them: a code span or `[[…]]` that is exactly a name, a bare `MEM-…` id or ULID, a bare key of two or more segments. The
longest reading wins, and a reference lies within one line.

Owns the grammar only: it reads no store and follows no reference (`catalogue` does), and knows no protocol position.
Work is linear in the text: `Known` is asked about no more than `NAME_LIMIT` characters at once, or `ENCLOSED_LIMIT` in
brackets and code spans.
"""

from memory_recall.references.nouns import ENCLOSED_LIMIT, NAME_LIMIT, Form, Known, Reference
from memory_recall.references.scan import reference_at, references_in

__all__ = ["ENCLOSED_LIMIT", "NAME_LIMIT", "Form", "Known", "Reference", "reference_at", "references_in"]
