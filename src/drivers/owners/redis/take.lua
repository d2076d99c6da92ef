-- Takes an upload for a new owner, unless somebody holds it.
--
-- The key of an owner outlives its lease. That it is still there tells that the one before went without a word, and may
-- come back: raising the version of the record first makes sure that it commits nothing any more.
--
-- KEYS: owner, record
-- ARGV: token, channel of the replica, lease, afterlife of the key (both milliseconds)
-- Gives 1 when it is taken, else 0.
local left = redis.call('PTTL', KEYS[1])
if left > tonumber(ARGV[4]) then return 0 end
if left ~= -2 then
  if redis.call('HEXISTS', KEYS[2], 'version') == 1 then redis.call('HINCRBY', KEYS[2], 'version', 1) end
  redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'channel', ARGV[2])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[3]) + tonumber(ARGV[4]))
return 1
