SELECT memory_item.id, memory_item.forgotten, memory_item.body, memory_scope.session_id
FROM memory_item JOIN memory_scope ON memory_scope.id = memory_item.scope_id
WHERE memory_item.id = ANY($1::text[])
