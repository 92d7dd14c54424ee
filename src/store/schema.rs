//! The tables, and the version that says which build understands them.

/// Format of the database. A later one is refused, an earlier one is rebuilt.
pub const FORMAT_VERSION: i64 = 2;

/// "SXTN": marks the file as ours.
pub const APPLICATION_ID: i64 = 0x5358_544e;

pub const CREATE: &str = "
-- last_segment: numbers of segments are never used twice, since readers keep columns by number.
-- hidden: set while a trace may be left of text that a rule has hidden.
-- log_start: `changes` is complete for what came after this generation.
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- complete: whether a whole index of the root was ever committed.
-- skips: the generation in which its rows of `skipped` last changed.
CREATE TABLE roots(
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    complete INTEGER NOT NULL DEFAULT 0,
    skips INTEGER NOT NULL DEFAULT 0
);
-- The rows of `files` that a generation added, changed or removed, so that readers need not read all of them again.
CREATE TABLE changes(generation INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY(generation, file)) WITHOUT ROWID;
CREATE TABLE segments(
    id INTEGER PRIMARY KEY,
    root INTEGER NOT NULL,
    live INTEGER NOT NULL,
    n_chunks INTEGER NOT NULL,
    n_files INTEGER NOT NULL,
    first_block INTEGER NOT NULL,
    directory BLOB NOT NULL,
    -- Sum of the vectors in fixed point: exact in any order.
    vector_sum BLOB NOT NULL,
    -- Whether it holds text that must go: of a file that a rule now leaves out.
    must_rewrite INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE files(
    id INTEGER PRIMARY KEY,
    root INTEGER NOT NULL,
    path TEXT NOT NULL,
    live INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    language TEXT NOT NULL,
    flags INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    first_chunk INTEGER NOT NULL,
    n_chunks INTEGER NOT NULL,
    text_start INTEGER NOT NULL,
    UNIQUE(root, live, path)
);
CREATE INDEX files_by_segment ON files(segment);
CREATE TABLE records(file INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE postings(id INTEGER PRIMARY KEY, segment INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX postings_by_segment ON postings(segment);
CREATE TABLE parts(
    segment INTEGER NOT NULL, part INTEGER NOT NULL,
    lengths BLOB NOT NULL, kinds BLOB NOT NULL, vectors BLOB NOT NULL,
    PRIMARY KEY(segment, part)
);
CREATE TABLE texts(segment INTEGER NOT NULL, row INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(segment, row));
-- size and mtime_ns are set where reading the file showed the reason, so that it need not be read again.
CREATE TABLE skipped(
    root INTEGER NOT NULL, path TEXT NOT NULL, reason TEXT NOT NULL, size INTEGER, mtime_ns INTEGER
);
";
