-- Reads a page of each list, all at one moment: a job that moves from one to another is in one of them.
--
-- KEYS: the lists
-- ARGV: where to begin, as ZREVRANGEBYLEX wants it, and how many of each
-- Gives the ids, those of each list from the largest down.
local ids = {}
for _, list in ipairs(KEYS) do
  for _, id in ipairs(redis.call('ZREVRANGEBYLEX', list, ARGV[1], '-', 'LIMIT', 0, ARGV[2])) do
    ids[#ids + 1] = id
  end
end
return ids
