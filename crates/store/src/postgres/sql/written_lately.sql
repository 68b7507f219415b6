SELECT channel, conversation, CAST(extract(epoch FROM written_at) * 1000000 AS bigint) AS micros
FROM session WHERE written_at > now() - interval '1 minute'
UNION ALL
SELECT channel, conversation, CAST(extract(epoch FROM deleted_at) * 1000000 AS bigint)
FROM deleted_session WHERE deleted_at > now() - interval '1 minute'
