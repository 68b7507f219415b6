-- A row that is too old does not count. A row of this very claim exists because the statement was sent twice.
INSERT INTO claimed_request (key, fingerprint, at, claim) VALUES ($1, $2, $3, $4)
ON CONFLICT (key) DO UPDATE SET
    fingerprint = excluded.fingerprint, at = excluded.at, claim = excluded.claim, status = NULL, body = NULL
WHERE claimed_request.at < $5 OR claimed_request.claim = excluded.claim
RETURNING key
