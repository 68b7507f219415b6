-- What a store of schema 16 has besides that of the schema before: a process that was alive.
INSERT INTO process_heartbeat (process, at) VALUES ('earlier', 1700000000000000);
