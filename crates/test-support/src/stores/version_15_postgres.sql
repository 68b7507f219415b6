-- What a store of schema 15 has besides that of the schema before: the digest of the command that a server was reached by.
UPDATE upstream_server SET commands = '0fc10230f30232b1ee17fab317629428e328421d80d36f32fe48289507bff6c9' WHERE name = 'files';
