-- Removes a record, its log, its deadline and its places in lists.
--
-- KEYS: record, log, deadlines
-- ARGV: id, expected version or ''
-- Gives 1 when it was there, at that version if there is one; else 0.
local record = KEYS[1]
local old = redis.call('HMGET', record, 'version', 'byStatus', 'byFlow', 'byDefinition')
if not old[1] or (ARGV[2] ~= '' and old[1] ~= ARGV[2]) then return 0 end
redis.call('DEL', record, KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[1])
if old[2] then redis.call('ZREM', old[2], ARGV[1]) end
if old[3] then redis.call('ZREM', old[3], ARGV[1]) end
if old[4] then redis.call('ZREM', old[4], ARGV[1]) end
return 1
