UPDATE session
SET head_seq = new.head_seq, head_hash = new.head_hash, state = new.state, last_active = new.last_active
FROM UNNEST($1::bigint[], $2::bigint[], $3::bytea[], $4::text[], $5::bigint[])
    AS new (id, head_seq, head_hash, state, last_active)
WHERE session.id = new.id
