-- Writes a record if it is at the expected version, with all that changes with it. Every condition is looked at before
-- the first write: Redis takes nothing of a script back.
--
-- KEYS: record, log, deadlines, counters, and for a job its three lists
-- ARGV: id, expected version, body, deadline or '', number of its last event or '', most entries of the log, life of the
--       log in milliseconds, then '' or 'usage', open uploads, stored bytes, limit of each or '', then number and body of
--       each event
-- Gives the new version; nil when the record is at another one; the counters, as text, when one would pass its limit.
local record, log, deadlines, counters = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, expected, body, due, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local counted = ARGV[8] == 'usage'

local old = redis.call('HMGET', record, 'version', 'last', 'byStatus', 'byFlow', 'byDefinition')
if (old[1] or '0') ~= expected then return false end
if last ~= '' and tonumber(ARGV[13]) <= tonumber(old[2] or '0') then
  return redis.error_reply('ERR the events of ' .. record .. ' do not follow its log')
end

-- Text is compared as a double, which is exact up to 2^53 and beyond that still on the right side of a smaller limit.
local function passes(used, delta, max)
  return max ~= '' and tonumber(delta) > 0 and tonumber(used) > tonumber(max) - tonumber(delta)
end
if counted then
  local used = redis.call('HMGET', counters, 'openUploads', 'storedBytes')
  local open, stored = used[1] or '0', used[2] or '0'
  if passes(open, ARGV[9], ARGV[11]) or passes(stored, ARGV[10], ARGV[12]) then return { open, stored } end
  -- Redis adds 64-bit integers, so the text stays exact.
  redis.call('HINCRBY', counters, 'storedBytes', ARGV[10])
  redis.call('HINCRBY', counters, 'openUploads', ARGV[9])
end

redis.call('HSET', record, 'body', body)
local version = redis.call('HINCRBY', record, 'version', 1)

if last ~= '' then
  for index = 13, #ARGV, 2 do
    redis.call('XADD', log, 'MAXLEN', '~', ARGV[6], ARGV[index] .. '-0', 'event', ARGV[index + 1])
  end
  redis.call('PEXPIRE', log, ARGV[7])
  redis.call('HSET', record, 'last', last)
end

if due == '' then
  redis.call('ZREM', deadlines, id)
else
  redis.call('ZADD', deadlines, due, id)
end

local function move(field, from, to)
  if from == to then return end
  if from then redis.call('ZREM', from, id) end
  redis.call('ZADD', to, 0, id)
  redis.call('HSET', record, field, to)
end
if KEYS[5] then
  move('byStatus', old[3], KEYS[5])
  move('byFlow', old[4], KEYS[6])
  move('byDefinition', old[5], KEYS[7])
end
return version
