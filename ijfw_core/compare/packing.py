"""The words of entries as they lie on disk between two processes."""

from array import array
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

import msgspec

T = TypeVar("T", "array[int]", "list[int]")


class Saved(msgspec.Struct, frozen=True, array_like=True):
    """What an index knows of its entries. Numbers are packed as the machine has them."""

    words: list[str]  # by number
    digests: list[str]  # of each entry's block
    sizes: bytes  # of each entry: its different words
    held: bytes  # the numbers of these words, entry after entry
    spread: bytes  # of each word: the entries that have it
    postings: bytes  # the places of these entries, word after word
    lengths: bytes  # of each entry: all its words
    hashes: bytes  # of each entry: of its words in order
    repeated: bytes  # place of an entry, number of a word, how often beyond once


NOTHING = Saved([], [], b"", b"", b"", b"", b"", b"", b"")


def packed(kind: str, numbers: Sequence[int]) -> bytes:
    """Numbers as bytes; `kind` as of an array."""
    return array(kind, numbers).tobytes()


def unpacked(kind: str, data: bytes) -> "array[int]":
    """Numbers of bytes; ValueError where they are cut."""
    found: array[int] = array(kind)
    found.frombytes(data)
    return found


def cut(sizes: Sequence[int], numbers: T) -> list[T]:
    """A sequence in parts of these sizes; ValueError where they are not its length."""
    ends = [0, *accumulate(sizes)]
    if ends[-1] != len(numbers):
        raise ValueError("cut")
    return [numbers[start:end] for start, end in pairwise(ends)]
