-- Whether an execution waits for a person, as JSON; NULL while nothing is said about it.
ALTER TABLE execution ADD COLUMN pause TEXT;
