-- What a store of schema 10 has besides that of the schema before: memories: one that was promoted, and one that was forgotten.
-- The program of schema 14 wrote these rows; they have the columns that schema 10 had.
INSERT INTO session (id, channel, conversation, state, seq, turn_open, planning, asks_person) VALUES
    (7, 'web', 'remembering', '{"identity":"web:remembering","opened_at":"2026-11-17T02:13:19.283439611Z","plan_mode":{"session":"web:remembering","enabled":false,"style":"document","active_plan":null,"updated_at":"2026-11-17T02:13:19.283439611Z"},"plans_made":0,"history_from":0,"memory_changes":[{"change":"saved","memory":"01a1e747-b73f-778f-bec6-307431d7ba0b"},{"change":"saved","memory":"01a1e747-b741-7548-ad9b-61712e507cc8"},{"change":"promoted","memory":"01a1e747-b745-7691-8e72-cf2cf8269dcd"},{"change":"forgotten","memory":"01a1e747-b741-7548-ad9b-61712e507cc8"}]}', 5, 0, 0, 0);
INSERT INTO journal (id, session_id, seq, plan_id, request, hash, body, version) VALUES
    (73, 7, 1, NULL, '01a1e747-b733-72c8-8b80-21a4659b5090', X'DF8D9FEC55D85DCBA9D2FDF32D879214A1C5062D9DFF984023307CD87EED37E3', '{"session":"web:remembering","seq":1,"at":"2026-11-17T02:13:19.283439611Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-b733-72c8-8b80-21a4659b5090","event":{"type":"session_opened"}}', NULL),
    (74, 7, 2, NULL, '01a1e747-b73f-778f-bec6-307431d7ba0b', X'5AE4CA52BC3D264543B583B64FFDC9390B57BFE67969A7CA06D8BB1F8BE3BB03', '{"session":"web:remembering","seq":2,"at":"2026-11-17T02:13:19.29528457Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-b73f-778f-bec6-307431d7ba0b","event":{"type":"memory_saved","item":{"id":"01a1e747-b73f-778f-bec6-307431d7ba0b","scope":"session:web:remembering","kind":"fact","content":"The red till is broken.","source":{"from":"person"},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:19.29528457Z"}}}', NULL),
    (75, 7, 3, NULL, '01a1e747-b741-7548-ad9b-61712e507cc8', X'2E96C6C1266A1AED38F15E8736E5EE873B2187EDD3F778A8A1DB4DF9CEF62B85', '{"session":"web:remembering","seq":3,"at":"2026-11-17T02:13:19.297320979Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-b741-7548-ad9b-61712e507cc8","event":{"type":"memory_saved","item":{"id":"01a1e747-b741-7548-ad9b-61712e507cc8","scope":"session:web:remembering","kind":"fact","content":"The blue till was sold.","source":{"from":"person"},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:19.297320979Z"}}}', NULL),
    (76, 7, 4, NULL, '01a1e747-b745-7691-8e72-cf2cf8269dcd', X'07DCB4D14166D7007C6F0B4B4B4355B5DB106CB9D8D351C35CBD2AD5ED54744B', '{"session":"web:remembering","seq":4,"at":"2026-11-17T02:13:19.301811735Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-b745-7691-8e72-cf2cf8269dcd","event":{"type":"memory_promoted","memory":"01a1e747-b73f-778f-bec6-307431d7ba0b","copy":{"id":"01a1e747-b745-7691-8e72-cf2cf8269dcd","scope":"global","kind":"fact","content":"The red till is broken.","source":{"from":"promotion","memory":"01a1e747-b73f-778f-bec6-307431d7ba0b","session":"web:remembering","promoted_by":{"kind":"person","name":"ada","through":"cli"}},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:19.29528457Z"}}}', NULL),
    (77, 7, 5, NULL, '01a1e747-b74a-7421-b9c3-ad31d460734a', X'42ECA9D09BFE0001DCE7EDCEA9507A6ECDC3E7D3076AEC117137A7A1A7E3E33B', '{"session":"web:remembering","seq":5,"at":"2026-11-17T02:13:19.307025944Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"01a1e747-b74a-7421-b9c3-ad31d460734a","event":{"type":"memory_forgotten","memory":"01a1e747-b741-7548-ad9b-61712e507cc8"}}', NULL);
INSERT INTO memory_scope (id, session_id, scope, items, words, last_position) VALUES
    (1, 7, 'session:web:remembering', 1, 3, 2),
    (2, 0, 'global', 1, 3, 1);
INSERT INTO memory_item (number, id, scope_id, position, forgotten, body) VALUES
    (1, '01a1e747-b73f-778f-bec6-307431d7ba0b', 1, 1, 0, '{"id":"01a1e747-b73f-778f-bec6-307431d7ba0b","scope":"session:web:remembering","kind":"fact","content":"The red till is broken.","source":{"from":"person"},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:19.29528457Z"}'),
    (2, '01a1e747-b741-7548-ad9b-61712e507cc8', 1, 2, 1, '{"id":"01a1e747-b741-7548-ad9b-61712e507cc8","scope":"session:web:remembering","kind":"fact","content":"The blue till was sold.","source":{"from":"person"},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:19.297320979Z"}'),
    (3, '01a1e747-b745-7691-8e72-cf2cf8269dcd', 2, 1, 0, '{"id":"01a1e747-b745-7691-8e72-cf2cf8269dcd","scope":"global","kind":"fact","content":"The red till is broken.","source":{"from":"promotion","memory":"01a1e747-b73f-778f-bec6-307431d7ba0b","session":"web:remembering","promoted_by":{"kind":"person","name":"ada","through":"cli"}},"author":{"kind":"person","name":"ada","through":"cli"},"trust":"person","at":"2026-11-17T02:13:19.29528457Z"}');
INSERT INTO memory_posting (scope_id, term, position, frequency, length) VALUES
    (1, '#--11', 1, 1, 3),
    (1, '#--11-17', 1, 1, 3),
    (1, '#2026-11', 1, 1, 3),
    (1, '#2026-11-17', 1, 1, 3),
    (1, '@ada', 1, 1, 3),
    (1, 'break', 1, 1, 3),
    (1, 'red', 1, 1, 3),
    (1, 'till', 1, 1, 3),
    (2, '#--11', 1, 1, 3),
    (2, '#--11-17', 1, 1, 3),
    (2, '#2026-11', 1, 1, 3),
    (2, '#2026-11-17', 1, 1, 3),
    (2, '@ada', 1, 1, 3),
    (2, 'break', 1, 1, 3),
    (2, 'red', 1, 1, 3),
    (2, 'till', 1, 1, 3);
