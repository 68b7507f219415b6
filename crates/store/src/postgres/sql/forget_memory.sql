WITH changed AS (
    UPDATE memory_item SET forgotten = true WHERE id = $1::text AND NOT forgotten RETURNING scope_id, position
), counted AS (
    UPDATE memory_scope SET items = items - 1, words = words - $2::bigint
    WHERE id IN (SELECT scope_id FROM changed)
    RETURNING id
)
DELETE FROM memory_posting USING changed
WHERE memory_posting.scope_id = changed.scope_id AND memory_posting.position = changed.position
    AND memory_posting.term = ANY($3::text[])
