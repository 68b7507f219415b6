-- Who may approve, and the approval policy in force: one journal for the whole store, each record with the hash of the one
-- before it.
CREATE TABLE IF NOT EXISTS approval_record (
    seq bigint PRIMARY KEY,
    body bytea NOT NULL,
    hash bytea NOT NULL
);
