-- Nothing is stored if one of the rows is gone.
WITH changed AS (
    UPDATE session
    SET head_seq = new.head_seq, head_hash = new.head_hash, state = new.state, last_active = new.last_active,
        turn_open = new.turn_open, planning = new.planning, asks_person = new.asks_person,
        has_agents = new.has_agents, written_at = clock_timestamp()
    FROM UNNEST($1::bigint[], $2::bigint[], $3::bytea[], $4::text[], $5::bigint[], $6::boolean[], $7::boolean[],
        $8::boolean[], $9::boolean[])
        AS new (id, head_seq, head_hash, state, last_active, turn_open, planning, asks_person, has_agents)
    WHERE session.id = new.id
    RETURNING 1
)
SELECT CASE WHEN count(*) = cardinality($1::bigint[]) THEN 1
    ELSE CAST('a session that was to be changed is gone, of ' || count(*) AS int) END
FROM changed
