-- Who may approve, and the approval policy in force: one journal for the whole store, each record with the hash of the one
-- before it.
CREATE TABLE approval_record (
    seq INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    hash BLOB NOT NULL
);
