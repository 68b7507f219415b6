-- Upstream MCP servers: what each offered last, and what a person accepted of it. `revision` grows with every change.
CREATE TABLE upstream_server (
    name           TEXT    NOT NULL PRIMARY KEY,
    revision       INTEGER NOT NULL,
    offered_tools  TEXT,
    offered_digest TEXT,
    offered_at     INTEGER,
    accepted_tools TEXT,
    accepted_by    TEXT,
    accepted_at    INTEGER
) STRICT, WITHOUT ROWID;
