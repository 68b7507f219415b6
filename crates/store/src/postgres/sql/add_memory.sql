-- One memory with its terms. A global memory outlives its session: when the session comes back from a backup, the memory is
-- there already.
WITH placed AS (
    INSERT INTO memory_scope (session_id, scope, items, words, last_position)
    SELECT $1::bigint, $2::text, 1, $3::bigint, 1 WHERE NOT EXISTS (SELECT 1 FROM memory_item WHERE id = $4::text)
    ON CONFLICT (scope, session_id) DO UPDATE
    SET items = memory_scope.items + 1, words = memory_scope.words + $3::bigint,
        last_position = memory_scope.last_position + 1
    RETURNING id, last_position
), item AS (
    INSERT INTO memory_item (id, scope_id, position, forgotten, body)
    SELECT $4::text, placed.id, placed.last_position, false, $5::text FROM placed
    RETURNING scope_id
)
INSERT INTO memory_posting (scope_id, term, position, frequency, length)
SELECT placed.id, terms.term, placed.last_position, terms.frequency, $3::bigint
FROM placed, UNNEST($6::text[], $7::bigint[]) AS terms (term, frequency)
