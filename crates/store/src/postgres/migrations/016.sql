-- When each process that works on sessions was last alive, in microseconds. Earlier versions kept it among the records below.
CREATE TABLE IF NOT EXISTS process_heartbeat (
    process text   NOT NULL,
    at      bigint NOT NULL,
    CONSTRAINT process_heartbeat_pkey PRIMARY KEY (process)
);
INSERT INTO process_heartbeat (process, at)
SELECT substr(key, 7), CAST(body AS bigint) FROM chat_record
WHERE key >= 'alive/' AND key < 'alive0' AND body ~ '^00[0-9]{18}$'
ON CONFLICT (process) DO NOTHING;
DELETE FROM chat_record WHERE key >= 'alive/' AND key < 'alive0';

-- Small records that are found by their keys: buttons and cards of chats, and the mark up to which people were told.
ALTER TABLE chat_record RENAME TO keyed_record;
