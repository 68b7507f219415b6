-- When each process that works on sessions was last alive, in microseconds. Earlier versions kept it among the records below.
CREATE TABLE process_heartbeat (
    process TEXT    NOT NULL PRIMARY KEY,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO process_heartbeat (process, at)
SELECT substr(key, 7), CAST(body AS INTEGER) FROM chat_record WHERE key >= 'alive/' AND key < 'alive0';
DELETE FROM chat_record WHERE key >= 'alive/' AND key < 'alive0';

-- Small records that are found by their keys: buttons and cards of chats, and the mark up to which people were told.
ALTER TABLE chat_record RENAME TO keyed_record;

-- Tells two claims of the same request apart.
ALTER TABLE claimed_request ADD COLUMN claim TEXT NOT NULL DEFAULT '';
