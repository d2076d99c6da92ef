-- Lets an upload go, if it is still this owner's, and tells all replicas that have asked.
--
-- KEYS: owner
-- ARGV: token, message for those who wait
-- Gives 1 when it was this owner's, else 0.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
local fields = redis.call('HKEYS', KEYS[1])
redis.call('DEL', KEYS[1])
for _, field in ipairs(fields) do
  if string.sub(field, 1, 6) == 'waits:' then redis.call('PUBLISH', string.sub(field, 7), ARGV[2]) end
end
return 1
