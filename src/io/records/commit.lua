-- Applies all steps of a commit to one partition, or none.
--
-- KEYS[1]  generation counter of the partition
-- KEYS[2]  reply of this very commit, kept a while so that a resend is answered alike
-- KEYS[3]  hash of last uses
-- then for each step, in order:
--   put, delete   hash of the collection, index of the collection, own key of the record (used with a ttl)
--   room          index of the collection
--
-- ARGV[1]  milliseconds to keep the reply
-- ARGV[2]  channel of the change feed
-- ARGV[3]  message for it
-- then for each step, in order:
--   'put', id, expect, ttlMs or '', json
--   'delete', id, expect
--   'room', max
-- expect is a revision, 'absent' or 'any'.
--
-- A record is the text "revision\njson": a field of the collection's hash and a member of its index,
-- or, when it has a ttl, a key of its own that no index knows.
--
-- Reply: { 1, 'revision,revision,...' } or { 0, step counted from 0, reason, record or false }.

local kept = redis.call('GET', KEYS[2])
if kept then return { 1, kept } end

-- The partition as the steps so far leave it: nothing is written before every step has held.
local seen, counts, writes, revisions = {}, {}, {}, {}

local function look(hash, own, id)
  if not seen[own] then
    local listed = redis.call('HGET', hash, id)
    seen[own] = { text = listed or redis.call('GET', own), listed = listed ~= false }
  end
  return seen[own]
end

local function count(index)
  if not counts[index] then counts[index] = redis.call('ZCARD', index) end
  return counts[index]
end

local function revision_of(text)
  return text and tonumber(string.match(text, '^%d+')) or 0
end

local function fault(expect, text)
  if expect == 'any' then return nil end
  if expect == 'absent' then return text and 'exists' end
  if not text then return 'missing' end
  return revision_of(text) ~= tonumber(expect) and 'revision'
end

local step, key, arg = 0, 4, 4
while arg <= #ARGV do
  local op, revision = ARGV[arg], 0
  if op == 'room' then
    if count(KEYS[key]) >= tonumber(ARGV[arg + 1]) then return { 0, step, 'full', false } end
    key, arg = key + 1, arg + 2
  else
    local hash, index, own = KEYS[key], KEYS[key + 1], KEYS[key + 2]
    local id, expect = ARGV[arg + 1], ARGV[arg + 2]
    local record = look(hash, own, id)
    local reason = fault(expect, record.text)
    if reason then return { 0, step, reason, record.text } end

    local text, ttl, listed = false, '', false
    if op == 'put' then
      revision = revision_of(record.text) + 1
      ttl = ARGV[arg + 3]
      text = string.format('%d', revision) .. '\n' .. ARGV[arg + 4]
      listed = ttl == ''
    end
    if listed ~= record.listed then counts[index] = count(index) + (listed and 1 or -1) end
    if text or record.text then
      seen[own] = { text = text, listed = listed }
      writes[#writes + 1] = { hash = hash, index = index, own = own, id = id, text = text, ttl = ttl }
    end
    key, arg = key + 3, arg + (op == 'put' and 5 or 3)
  end
  revisions[#revisions + 1] = string.format('%d', revision)
  step = step + 1
end

for _, write in ipairs(writes) do
  if write.text and write.ttl == '' then
    redis.call('HSET', write.hash, write.id, write.text)
    redis.call('ZADD', write.index, 0, write.id)
    redis.call('DEL', write.own)
  else
    redis.call('HDEL', write.hash, write.id)
    redis.call('ZREM', write.index, write.id)
    if write.text then
      redis.call('SET', write.own, write.text, 'PX', write.ttl)
    else
      redis.call('DEL', write.own)
      redis.call('HDEL', KEYS[3], write.id)
    end
  end
end

local reply = table.concat(revisions, ',')
redis.call('INCR', KEYS[1])
redis.call('SET', KEYS[2], reply, 'PX', ARGV[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return { 1, reply }
