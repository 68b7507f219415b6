-- What a store of schema 13 has besides that of the schema before: messages to people, updates of a bot and records about chats.
-- The program of schema 14 wrote these rows; they have the columns that schema 13 had.
INSERT INTO outbox (seq, id, channel, target, body, created_at, due, retry_at, attempts, owner, taken_until, settled_at, outcome, why) VALUES
    (1, 'failed', 'telegram', 'failed', '{"text":"failed"}', 1800000001000000, 1800000001000000, 0, 1, 'gone', 0, 1800000002000000, 'failed', 'blocked'),
    (2, 'waiting', 'telegram', 'waiting', '{"text":"waiting"}', 1800000001000000, 1800000001000000, 0, 1, 'gone', 1800000003000000, NULL, NULL, NULL);
ALTER TABLE outbox ALTER COLUMN seq RESTART WITH 3;
INSERT INTO chat_poller (bot, owner, fence, expires_at, next_update, received_at) VALUES
    ('bot', 'gone', 1, 1800000011000000, 9, 1800000002000000);
INSERT INTO chat_update (bot, id, body, session, done_at) VALUES
    ('bot', 7, '', NULL, 1800000003000000),
    ('bot', 8, '{"update_id":8}', 'cli:k3yk3y8x', NULL);
INSERT INTO chat_record (key, revision, body) VALUES
    ('alive/gone', 1, '00001800000001000000'),
    ('card/a/1', 1, 'a card');
