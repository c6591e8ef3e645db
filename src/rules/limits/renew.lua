-- Keeps leases alive and notes how far they are; puts back those that are missing. ring.lua and leases.lua stand before it.
--
-- KEYS[1..8]  as in ring.lua
-- ARGV[1]  time, as in ring.lua     ARGV[2]  milliseconds a lease lives
-- then for each lease: id, tokens used so far, credits used so far, credits it holds (-1 = not metered), its tags by lines;
-- it is put back as one of a key without a budget
--
-- Reply: now, leases that were missing, leases pruned.

local RECOUNT = 60000

local rings, now = open_rings(1)
rings[1][DIRTY] = true -- so that time does not go back for the leases
local ids = {}
for at = 3, #ARGV, 5 do ids[#ids + 1] = ARGV[at] end

local missing, records, scores = 0, {}, {}
local kept = #ids > 0 and call('HMGET', KEYS[1], unpack(ids)) or {}
for i, id in ipairs(ids) do
  local at = 3 + 5 * (i - 1)
  local used_tokens, used_credits, hold = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  scores[2 * i - 1], scores[2 * i] = whole(now + tonumber(ARGV[2])), id
  if kept[i] then
    local lease = read_lease(kept[i])
    if lease.used_tokens ~= used_tokens or lease.used_credits ~= used_credits then
      lease.used_tokens, lease.used_credits = used_tokens, used_credits
      records[#records + 1], records[#records + 2] = id, write_lease(lease)
    end
  else
    -- Pruned, or lost with the memory of Redis: what was paid stays paid, and it pays the rest when it ends.
    missing = missing + 1
    local tokens, paid = read_tombstone(id, now)
    local lease = { day = 0, minutes = {}, tokens = tokens or 0, hold = max(hold, 0), used_tokens = used_tokens,
      used_credits = used_credits, paid = paid or 0, flags = RESTORED + (hold >= 0 and METERED or 0), names = ARGV[at + 4] }
    local fields = fields_of(tags_of(lease.names))
    enlist(fields, call('HMGET', KEYS[1], unpack(fields)), 1, lease, { id, write_lease(lease) }, {})
    if tokens then call('HDEL', KEYS[3], id) end
  end
end
if #records > 0 then call('HSET', KEYS[1], unpack(records)) end
if #scores > 0 then call('ZADD', KEYS[2], unpack(scores)) end
if missing > 0 then
  call('PEXPIRE', KEYS[1], RING_TTL)
  call('PEXPIRE', KEYS[2], RING_TTL)
end
local pruned = prune(rings[1], now) -- also notes which lease expires first
save_changed(rings, now)

-- The counts are sums over the records beside them. Once a minute they are made anew, so nothing can drift.
local counted = tonumber(call('HGET', KEYS[1], 'r') or 0)
if now - counted >= RECOUNT or counted > now then
  local fields, sums, stale = call('HGETALL', KEYS[1]), {}, {}
  local function add(field, amount)
    if amount > 0 then sums[field] = (sums[field] or 0) + amount end
  end
  for i = 1, #fields, 2 do
    local field = fields[i]
    if field:find('^[ch][opk]') then
      stale[#stale + 1] = field
    elseif field ~= 'r' and field ~= 'e' then
      local lease = read_lease(fields[i + 1])
      for j, name in ipairs(fields_of(tags_of(lease.names), lease.budgeted)) do
        add(name, (j == 1 or name:byte() == 104) and lease.hold or 1)
      end
    end
  end
  for field, sum in pairs(sums) do call('HSET', KEYS[1], field, whole(sum)) end
  for _, field in ipairs(stale) do
    if not sums[field] then call('HDEL', KEYS[1], field) end
  end
  if call('HLEN', KEYS[1]) > 0 then call('HSET', KEYS[1], 'r', whole(now)) end
  local tombs = call('HGETALL', KEYS[3])
  for i = 1, #tombs, 2 do
    if unpack_at('<I6', tombs[i + 1]) <= now then call('HDEL', KEYS[3], tombs[i]) end
  end
end
return { now, missing, pruned }
