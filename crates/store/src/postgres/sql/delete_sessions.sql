DELETE FROM session WHERE id = ANY($1::bigint[])
