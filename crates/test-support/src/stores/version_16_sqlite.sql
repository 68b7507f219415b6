-- What a store of schema 16 has besides that of the schema before: a process and a record in tables of their own.
INSERT INTO process_heartbeat (process, at) VALUES ('server of schema 16', 1767225600000000);
INSERT INTO keyed_record (key, revision, body) VALUES ('card of schema 16', 3, 'kept');
INSERT INTO process_heartbeat (process, at) VALUES ('earlier', 1700000000000000);
