-- Sorted, so that two batches that open the same sessions wait for each other in the same order.
INSERT INTO session (channel, conversation, head_seq, head_hash, state, last_active)
SELECT channel, conversation, 0, ''::bytea, '', 0
FROM UNNEST($1::text[], $2::text[]) AS wanted (channel, conversation)
ORDER BY conversation, channel
ON CONFLICT (conversation, channel) DO NOTHING
RETURNING id
