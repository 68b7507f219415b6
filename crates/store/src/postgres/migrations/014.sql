-- What embedding models made of memories. They can be made again at any time.
CREATE TABLE IF NOT EXISTS memory_vector (
    memory text  NOT NULL,
    model  text  NOT NULL,
    vector bytea NOT NULL,
    CONSTRAINT memory_vector_pkey PRIMARY KEY (memory, model)
);
