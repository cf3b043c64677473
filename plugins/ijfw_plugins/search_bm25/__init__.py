"""Search by words: Okapi BM25 over fields, on an index that is brought up to date when it is asked.

`.ijfw/index/recall.db` is derived from memory and may be deleted; nothing else is written. Where
there can be no index (a newer schema, a folder that cannot be written, a busy lock), this plugin
has no answer and the kernel scans memory.

    engine        the indexes that are open; what to do when one is broken
    forms, stem, words   from text to terms
    watch         which files memory lies in, and whether they changed
    database      the file: schema, migrations, lock
    index         one project's index, kept up to date through `update`
    postings      lists of entries, packed
    places        the neighbours, sizes and times of entries, packed
    question      what a query asks
    rank, field   the best entries by their words and those of their neighbours
    order         hits in their order

An index hears of a write by looking at the files when it is asked next, not by `notify`: so it
hears of editors, of git and of other programs in the same way, and a write waits for nothing.
"""

from ijfw_hookspecs import Context, Hit, Query, hookimpl


@hookimpl
def search(query: Query, context: Context) -> list[Hit] | None:
    """The entries whose words answer a query best; None where there is no index."""
    from ijfw_plugins.search_bm25 import engine  # SQLite is for those who search

    return engine.search(query, context)
