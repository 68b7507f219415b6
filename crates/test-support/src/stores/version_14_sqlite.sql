-- What a store of schema 14 has besides that of the schema before: what a model made of a memory.
INSERT INTO memory_vector (memory, model, vector) VALUES
    ('01a1e747-b745-7691-8e72-cf2cf8269dcd', 'openai:earlier', X'0000003F');
