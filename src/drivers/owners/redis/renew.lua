-- Renews the leases of one replica.
--
-- KEYS: owners
-- ARGV: lease, afterlife of the keys, then the token of each owner
-- Gives for each owner: 'lost' when it is another's by now, 'now' when somebody has asked for it to be let go, else 'held'.
local results = {}
for index, owner in ipairs(KEYS) do
  local token, ask = unpack(redis.call('HMGET', owner, 'token', 'ask'))
  if token == ARGV[index + 2] then
    redis.call('PEXPIRE', owner, tonumber(ARGV[1]) + tonumber(ARGV[2]))
    results[index] = ask or 'held'
  else
    results[index] = 'lost'
  end
end
return results
