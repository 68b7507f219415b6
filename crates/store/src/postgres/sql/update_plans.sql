-- Nothing is stored if one of the rows is gone.
WITH changed AS (
    UPDATE plan
    SET status = new.status, title = new.title, body = new.body, updated_at = new.updated_at
    FROM UNNEST($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[])
        AS new (id, session_id, status, title, body, updated_at)
    WHERE plan.id = new.id AND plan.session_id = new.session_id
    RETURNING 1
)
SELECT CASE WHEN count(*) = cardinality($1::text[]) THEN 1
    ELSE CAST('a plan that was to be changed is gone, of ' || count(*) AS int) END
FROM changed
