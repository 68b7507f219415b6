-- From this version on the store holds the guarded settings and the records of agents that every decision is compared with, so
-- programs that do not know them refuse to open it. `commands` has the digest of every command or address that offered something
-- under the name of an upstream server, separated by spaces.
ALTER TABLE upstream_server ADD COLUMN commands TEXT NOT NULL DEFAULT '';
