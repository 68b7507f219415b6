WITH changed AS (
    UPDATE memory_item SET forgotten = false WHERE id = $1::text AND forgotten RETURNING scope_id, position
), counted AS (
    UPDATE memory_scope SET items = items + 1, words = words + $2::bigint
    WHERE id IN (SELECT scope_id FROM changed)
    RETURNING id
)
INSERT INTO memory_posting (scope_id, term, position, frequency, length)
SELECT changed.scope_id, terms.term, changed.position, terms.frequency, $2::bigint
FROM changed, UNNEST($3::text[], $4::bigint[]) AS terms (term, frequency)
ON CONFLICT (scope_id, term, position) DO NOTHING
