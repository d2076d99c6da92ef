-- Tells the owner of an upload that somebody wants it, and leaves word where to tell when it is free.
--
-- KEYS: owner
-- ARGV: channel of the asking replica, message for the owner, '' or 'now' when it must let go, afterlife of the key
-- Gives the milliseconds for which its lease still holds; 0 when nobody holds it.
local left = redis.call('PTTL', KEYS[1]) - tonumber(ARGV[4])
if left <= 0 then return 0 end
redis.call('HSET', KEYS[1], 'waits:' .. ARGV[1], '1')
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'ask', ARGV[3]) end
redis.call('PUBLISH', redis.call('HGET', KEYS[1], 'channel'), ARGV[2])
return left
