-- Tells the owner of an upload that somebody wants it, and leaves word where to tell when it is free.
--
-- An owner whose lease has ended may come back. What the asking replica reads of the record next must stay true, so the
-- version is raised first, as for a new owner: see take.lua.
--
-- KEYS: owner, record
-- ARGV: channel of the asking replica, message for the owner, '' or 'now' when it must let go, afterlife of the key
-- Gives the milliseconds for which its lease still holds; 0 when nobody holds it.
local ttl = redis.call('PTTL', KEYS[1])
local left = ttl - tonumber(ARGV[4])
if left <= 0 then
  if ttl ~= -2 then
    if redis.call('HEXISTS', KEYS[2], 'version') == 1 then redis.call('HINCRBY', KEYS[2], 'version', 1) end
    redis.call('DEL', KEYS[1])
  end
  return 0
end
redis.call('HSET', KEYS[1], 'waits:' .. ARGV[1], '1')
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'ask', ARGV[3]) end
redis.call('PUBLISH', redis.call('HGET', KEYS[1], 'channel'), ARGV[2])
return left
