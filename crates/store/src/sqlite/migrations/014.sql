-- What embedding models made of memories. They can be made again at any time.
CREATE TABLE memory_vector (
    memory TEXT NOT NULL,
    model  TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (memory, model)
) STRICT, WITHOUT ROWID;
