-- The version of its plan that an entry made, so that one version is found without reading the others.
ALTER TABLE journal ADD COLUMN IF NOT EXISTS version bigint;
CREATE INDEX IF NOT EXISTS journal_version ON journal (plan_id, version) WHERE version IS NOT NULL;
