-- Ends a lease exactly once with what the request really took. ring.lua and leases.lua stand before it.
--
-- KEYS[1..7]  as in ring.lua
-- KEYS[8..]   a ring for each scope, as the lease was admitted; then the marker of the lease
-- ARGV[1]  time, as in ring.lua     ARGV[2]  lease     ARGV[3]  tokens used     ARGV[4]  credits used; -1 = not metered
-- ARGV[5]  milliseconds the marker lives
-- ARGV[6]  1 = an earlier call may have acted longer ago than that: charge only what still has a lease or a tombstone
-- ARGV[7]  1 = the key has a budget
-- ARGV[8]  milliseconds since it was admitted elsewhere, -1 = it was not: where nothing is known of it, it counts as a
--          request as well
-- ARGV[9]  how many tags, then the tags of the scopes below the organization, the key's last
-- then kind and subject of each quota
--
-- Reply: code, now, whether there is a balance, balance, tokens used beyond the reservation.
-- code: 1 settled, 2 was settled before, 3 after it had been pruned, 4 nothing was known of it, 5 so nothing was done.

local id, tokens, credits = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local rings, now = open_rings(#KEYS - 8)
local marked = read_marker(now)

local function answer(code, balance, over)
  save_changed(rings, now)
  if not balance and credits >= 0 then balance = tonumber(call('HGET', KEYS[4], 'b') or nil) end
  return { code, now, balance and 1 or 0, balance or 0, over }
end

if marked == 3 then return answer(2, nil, 0) end

local tags = {}
for i = 1, tonumber(ARGV[9]) do tags[i] = ARGV[9 + i] end
local fields = fields_of(tags)
local kept = call('HMGET', KEYS[1], id, unpack(fields))
local lease = kept[1] and read_lease(kept[1])
local code, accounted, paid = 1, 0, 0
if lease then
  accounted, paid = lease.tokens, lease.paid
else
  accounted, paid = read_tombstone(id, now)
  code = accounted and 3 or 4
  if code == 4 and ARGV[6] == '1' then return answer(5, nil, 0) end
end
call('SET', KEYS[#KEYS], whole(now + tonumber(ARGV[5])), 'PX', ARGV[5])

local over, ago = tokens - (accounted or 0), tonumber(ARGV[8])
if code == 4 and ago >= 0 then
  -- An attempt that was refused here has counted in its key, one without credits everywhere.
  local start, unseen = now - ago, (not marked or marked == 0) and 1 or 0
  for i, ring in ipairs(rings) do
    local requests = marked and i == #rings and 0 or unseen
    count_past(ring, MINUTE, start, now, requests, tokens)
    count_past(ring, DAY, start, now, requests, i == 1 and tokens or 0)
  end
  for i = 10 + #tags, #ARGV, 2 do
    local kind = tonumber(ARGV[i])
    if period(kind, start) == period(kind, now) then count_quota(kind, ARGV[i + 1], now, unseen, tokens) end
  end
elseif over > 0 then
  for i, ring in ipairs(rings) do
    count(ring, MINUTE, now, 0, over)
    if i == 1 then count(ring, DAY, now, 0, over) end
  end
  for i = 10 + #tags, #ARGV, 2 do count_quota(tonumber(ARGV[i]), ARGV[i + 1], now, 0, over) end
elseif over < 0 and lease then
  for i, ring in ipairs(rings) do
    refund(ring, MINUTE, lease.minutes[i], -over)
    if i == 1 then refund(ring, DAY, lease.day, -over) end
  end
  refund_quotas(lease.names, now, -over)
end
local balance
if credits >= 0 then balance = charge(tags[#tags], credits - (paid or 0), ARGV[7] == '1') end
if lease then
  table.remove(kept, 1)
  enlist(fields, kept, -1, lease, {}, { id })
  call('ZREM', KEYS[2], id)
elseif code == 3 then
  call('HDEL', KEYS[3], id)
end
return answer(code, balance, max(over, 0))
