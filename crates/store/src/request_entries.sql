-- All entries that one request led to: from its first one up to the first one of the next request.
SELECT entry.seq, entry.body
FROM journal AS begun JOIN journal AS entry ON entry.session_id = begun.session_id AND entry.seq >= begun.seq
WHERE begun.session_id = (SELECT id FROM session WHERE conversation = ?1 AND channel = ?2) AND begun.request = ?3
    AND entry.seq < coalesce(
        (SELECT later.seq FROM journal AS later
         WHERE later.session_id = begun.session_id AND later.seq > begun.seq AND later.request IS NOT NULL
         ORDER BY later.seq LIMIT 1),
        9223372036854775807
    )
ORDER BY entry.seq
