-- Whether an execution waits for a person, as JSON; NULL while nothing is said about it.
ALTER TABLE execution ADD COLUMN IF NOT EXISTS pause text;
