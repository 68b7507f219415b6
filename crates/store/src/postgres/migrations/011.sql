-- Upstream MCP servers: what each offered last, and what a person accepted of it. `revision` grows with every change.
CREATE TABLE IF NOT EXISTS upstream_server (
    name           text   NOT NULL,
    revision       bigint NOT NULL,
    offered_tools  text,
    offered_digest text,
    offered_at     bigint,
    accepted_tools text,
    accepted_by    text,
    accepted_at    bigint,
    CONSTRAINT upstream_server_pkey PRIMARY KEY (name)
);
