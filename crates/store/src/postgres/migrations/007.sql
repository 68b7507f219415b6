-- Of the entries that made a version, those of the first 32 versions of a plan and of every 32nd one after them. The
-- entries between two of them are found from the earlier one on.
DROP INDEX IF EXISTS journal_version;
CREATE INDEX journal_version ON journal (plan_id, version) WHERE version <= 32 OR version % 32 = 0;
