-- A page of a collection in id order, read in one instant.
--
-- KEYS[1]  index of the collection
-- KEYS[2]  hash of the collection
--
-- ARGV[1]  'asc' or 'desc'
-- ARGV[2]  the id after which the page begins, or ''
-- ARGV[3]  how many at most
--
-- Reply: { id, record, id, record, ... }; a record is "revision\njson".

local ids
if ARGV[1] == 'desc' then
  local from = ARGV[2] == '' and '+' or '(' .. ARGV[2]
  ids = redis.call('ZREVRANGEBYLEX', KEYS[1], from, '-', 'LIMIT', 0, ARGV[3])
else
  local from = ARGV[2] == '' and '-' or '(' .. ARGV[2]
  ids = redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0, ARGV[3])
end

local reply = {}
for _, id in ipairs(ids) do
  local record = redis.call('HGET', KEYS[2], id)
  if record then
    reply[#reply + 1] = id
    reply[#reply + 1] = record
  end
end
return reply
