-- Adds a replica, or renews its lease, unless it and another one would not see the same files.
--
-- KEYS: replicas, a sorted set of '{replica} {files} {shared or alone}' by the ends of their leases
-- ARGV: replica, id of its files, 'shared' or 'alone', lease in milliseconds
-- Gives the ids of all replicas; 'files' when another one has other files; 'alone' when another one has the
-- same and one of the two has not declared it to be shared.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local ids = { ARGV[1] }
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local id, files, sharing = string.match(member, '^(%S+) (%S+) (%S+)$')
  if id ~= ARGV[1] then
    if files ~= ARGV[2] then return 'files' end
    if sharing ~= 'shared' or ARGV[3] ~= 'shared' then return 'alone' end
    ids[#ids + 1] = id
  end
end
redis.call('ZADD', KEYS[1], now + ARGV[4], ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return ids
