-- What a store of schema 14 has besides that of the schema before: what a model made of a memory.
INSERT INTO memory_vector (memory, model, vector) VALUES
    ('01a1e747-c4c8-72cf-ba47-ccd30897429b', 'openai:earlier', E'\\x0000003f');
