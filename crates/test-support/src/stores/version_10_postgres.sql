-- What a store of schema 10 has besides that of the schema before: memories: one that was promoted, and one that was forgotten.
-- The program of schema 14 wrote these rows; they have the columns that schema 10 had.
INSERT INTO session (id, channel, conversation, head_seq, head_hash, state, last_active, turn_open, planning, written_at, asks_person) VALUES
    (8, 'web', 'remembering', 5, E'\\x153beeee90a19f49b1c3c961309727fb0d693ba4fd3b58f2d76d25c85bd9ec3b', '{"identity":"web:remembering","opened_at":"2026-11-17T02:13:22.717548241Z","plan_mode":{"session":"web:remembering","enabled":false,"style":"document","active_plan":null,"updated_at":"2026-11-17T02:13:22.717548241Z"},"plans_made":0,"history_from":0,"memory_changes":[{"change":"saved","memory":"01a1e747-c4c0-76ba-88a0-2856d7895b9b"},{"change":"saved","memory":"01a1e747-c4c5-7632-ade5-b0f09b60ccac"},{"change":"promoted","memory":"01a1e747-c4c8-72cf-ba47-ccd30897429b"},{"change":"forgotten","memory":"01a1e747-c4c5-7632-ade5-b0f09b60ccac"}]}', 1794881602789317, false, false, '2026-11-17 02:13:22.791734+00', false);
ALTER TABLE session ALTER COLUMN id RESTART WITH 9;
INSERT INTO journal (session_id, seq, plan_id, request, body, hash, version) VALUES
    (8, 1, NULL, '01a1e747-c49d-75aa-8e81-f8ccfcbfd717', '{"session":"web:remembering","seq":1,"at":"2026-11-17T02:13:22.717548241Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-c49d-75aa-8e81-f8ccfcbfd717","event":{"type":"session_opened"}}', E'\\x9e97598dfb62c8eca477c48670dc82cab5543aec04d417f110f3485fa04fc770', NULL),
    (8, 2, NULL, '01a1e747-c4c0-76ba-88a0-2856d7895b9b', '{"session":"web:remembering","seq":2,"at":"2026-11-17T02:13:22.752350457Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-c4c0-76ba-88a0-2856d7895b9b","event":{"type":"memory_saved","item":{"id":"01a1e747-c4c0-76ba-88a0-2856d7895b9b","scope":"session:web:remembering","kind":"fact","content":"The red till is broken.","source":{"from":"person"},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:22.752350457Z"}}}', E'\\xb5be069b90a533fb590d2ce7137d6f4856fa33f6041fe1ff210bc28d55711320', NULL),
    (8, 3, NULL, '01a1e747-c4c5-7632-ade5-b0f09b60ccac', '{"session":"web:remembering","seq":3,"at":"2026-11-17T02:13:22.757340755Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-c4c5-7632-ade5-b0f09b60ccac","event":{"type":"memory_saved","item":{"id":"01a1e747-c4c5-7632-ade5-b0f09b60ccac","scope":"session:web:remembering","kind":"fact","content":"The blue till was sold.","source":{"from":"person"},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:22.757340755Z"}}}', E'\\xf467942388fed2499344b5791a9f1d91aa7bf0ba7e834fb84c627afc0dfe5648', NULL),
    (8, 4, NULL, '01a1e747-c4c8-72cf-ba47-ccd30897429b', '{"session":"web:remembering","seq":4,"at":"2026-11-17T02:13:22.760797637Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-c4c8-72cf-ba47-ccd30897429b","event":{"type":"memory_promoted","memory":"01a1e747-c4c0-76ba-88a0-2856d7895b9b","copy":{"id":"01a1e747-c4c8-72cf-ba47-ccd30897429b","scope":"global","kind":"fact","content":"The red till is broken.","source":{"from":"promotion","memory":"01a1e747-c4c0-76ba-88a0-2856d7895b9b","session":"web:remembering","promoted_by":{"kind":"person","name":"ada","through":"cli"}},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:22.752350457Z"}}}', E'\\x4e4d58d7e19038bb8b9988132d5bea3157608ede63804bc4d4f5a5c7d2bc3081', NULL),
    (8, 5, NULL, '01a1e747-c4e5-773a-bf17-3b601e4c4774', '{"session":"web:remembering","seq":5,"at":"2026-11-17T02:13:22.789317881Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-c4e5-773a-bf17-3b601e4c4774","event":{"type":"memory_forgotten","memory":"01a1e747-c4c5-7632-ade5-b0f09b60ccac"}}', E'\\x153beeee90a19f49b1c3c961309727fb0d693ba4fd3b58f2d76d25c85bd9ec3b', NULL);
INSERT INTO memory_scope (id, session_id, scope, items, words, last_position) VALUES
    (1, 8, 'session:web:remembering', 1, 3, 2),
    (3, 0, 'global', 1, 3, 1);
ALTER TABLE memory_scope ALTER COLUMN id RESTART WITH 4;
INSERT INTO memory_item (number, id, scope_id, position, forgotten, body) VALUES
    (1, '01a1e747-c4c0-76ba-88a0-2856d7895b9b', 1, 1, false, '{"id":"01a1e747-c4c0-76ba-88a0-2856d7895b9b","scope":"session:web:remembering","kind":"fact","content":"The red till is broken.","source":{"from":"person"},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:22.752350457Z"}'),
    (2, '01a1e747-c4c5-7632-ade5-b0f09b60ccac', 1, 2, true, '{"id":"01a1e747-c4c5-7632-ade5-b0f09b60ccac","scope":"session:web:remembering","kind":"fact","content":"The blue till was sold.","source":{"from":"person"},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:22.757340755Z"}'),
    (3, '01a1e747-c4c8-72cf-ba47-ccd30897429b', 3, 1, false, '{"id":"01a1e747-c4c8-72cf-ba47-ccd30897429b","scope":"global","kind":"fact","content":"The red till is broken.","source":{"from":"promotion","memory":"01a1e747-c4c0-76ba-88a0-2856d7895b9b","session":"web:remembering","promoted_by":{"kind":"person","name":"ada","through":"cli"}},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:22.752350457Z"}');
ALTER TABLE memory_item ALTER COLUMN number RESTART WITH 4;
INSERT INTO memory_posting (scope_id, term, position, frequency, length) VALUES
    (1, '#--11', 1, 1, 3),
    (1, '#--11-17', 1, 1, 3),
    (1, '#2026-11', 1, 1, 3),
    (1, '#2026-11-17', 1, 1, 3),
    (1, '@ada', 1, 1, 3),
    (1, 'break', 1, 1, 3),
    (1, 'red', 1, 1, 3),
    (1, 'till', 1, 1, 3),
    (3, '#--11', 1, 1, 3),
    (3, '#--11-17', 1, 1, 3),
    (3, '#2026-11', 1, 1, 3),
    (3, '#2026-11-17', 1, 1, 3),
    (3, '@ada', 1, 1, 3),
    (3, 'break', 1, 1, 3),
    (3, 'red', 1, 1, 3),
    (3, 'till', 1, 1, 3);
