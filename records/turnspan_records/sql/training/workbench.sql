-- What an export works with, in SQLite: samples and pairs, and what it has copied out of the store.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA temp_store = FILE;
CREATE TABLE sample (
    number INTEGER PRIMARY KEY, project TEXT, unit TEXT, prompt_hash BLOB, completion_hash BLOB,
    score REAL, good INTEGER, bad INTEGER, place INTEGER, size INTEGER, cut INTEGER, attempt TEXT);
CREATE TABLE pair (
    prompt_hash BLOB, chosen INTEGER, rejected INTEGER, source TEXT, margin REAL, author TEXT,
    UNIQUE (chosen, rejected));
CREATE TABLE judgment (
    project TEXT, subject_kind TEXT, subject_id TEXT, kind TEXT, outcome TEXT,
    training_flag INTEGER, score REAL, author TEXT, chosen_id TEXT, rejected_id TEXT,
    annotation_id TEXT);
CREATE TABLE flagged_out (
    project TEXT, subject_id TEXT, subject_kind TEXT,
    PRIMARY KEY (project, subject_id, subject_kind)) WITHOUT ROWID;
CREATE TABLE artifact (
    project TEXT, artifact_id TEXT, target TEXT, kind TEXT, content TEXT, content_bytes INTEGER,
    session_id TEXT, turn_id TEXT, call_id TEXT, attempt_id TEXT, created_at REAL);
CREATE TABLE result (
    project TEXT, attempt_id TEXT, experiment_id TEXT, cycle INTEGER, task TEXT, locked INTEGER);
