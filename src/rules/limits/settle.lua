-- Ends a lease exactly once with what the request really took. ring.lua and leases.lua stand before it.
--
-- KEYS[1..7]  as in ring.lua
-- KEYS[8..]   a ring for each scope, as the lease was admitted; then the marker of the lease
-- ARGV[1]  time, as in ring.lua     ARGV[2]  lease     ARGV[3]  tokens used     ARGV[4]  credits used; -1 = not metered
-- ARGV[5]  1 = an earlier call may have acted longer ago than its marker lives: charge only what still has a lease or a
--          tombstone
-- ARGV[6]  1 = the key has a budget
-- ARGV[7]  milliseconds since it was admitted elsewhere, -1 = it was not: where nothing is known of it, it counts as a
--          request as well
-- then kind and subject of each quota
--
-- Reply: code, now, whether there is a balance, balance, tokens used beyond the reservation.
-- code: 1 settled, 2 was settled before, 3 after it had been pruned, 4 nothing was known of it, 5 so nothing was done.

local SETTLED_TTL = 120000
local QUOTAS = 8 -- where they begin among the arguments

local id, tokens, credits = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local rings, now = open_rings(#KEYS - 8)
-- Set at once, which spares asking for it: most are settled for the first time.
local settled = whole(now + SETTLED_TTL)
local is_first = call('SET', KEYS[#KEYS], settled, 'NX', 'PX', SETTLED_TTL)
local marked = not is_first and read_marker(call('GET', KEYS[#KEYS]), now) or nil

local function answer(code, balance, over)
  save_changed(rings, now)
  if not balance and credits >= 0 then balance = tonumber(call('HGET', KEYS[4], 'b') or nil) end
  return { code, now, balance and 1 or 0, balance or 0, over }
end

if marked == 3 then return answer(2, nil, 0) end

local tags = {} -- the last part of a ring's name is its tag: of the organization 'o'
for i = 2, #rings do tags[i - 1] = KEYS[7 + i]:sub(#KEYS[8]) end
local fields = fields_of(tags, ARGV[6] == '1')
local kept = call('HMGET', KEYS[1], id, unpack(fields))
local lease = kept[1] and read_lease(kept[1])
local code, accounted, paid = 1, 0, 0
if lease then
  accounted, paid = lease.tokens, lease.paid
else
  accounted, paid = read_tombstone(id, now)
  code = accounted and 3 or 4
  if code == 4 and ARGV[5] == '1' then
    if is_first then call('DEL', KEYS[#KEYS]) end
    return answer(5, nil, 0)
  end
end
if not is_first then call('SET', KEYS[#KEYS], settled, 'PX', SETTLED_TTL) end

local over, ago = tokens - (accounted or 0), tonumber(ARGV[7])
if code == 4 and ago >= 0 then
  -- An attempt that was refused here has counted in its key, one without credits everywhere.
  local start, unseen = now - ago, (not marked or marked == 0) and 1 or 0
  for i, ring in ipairs(rings) do
    local requests = marked and i == #rings and 0 or unseen
    count_past(ring, MINUTE, start, now, requests, tokens)
    count_past(ring, DAY, start, now, requests, i == 1 and tokens or 0)
  end
  for i = QUOTAS, #ARGV, 2 do
    local kind = tonumber(ARGV[i])
    if period(kind, start) == period(kind, now) then count_quota(kind, ARGV[i + 1], now, unseen, tokens) end
  end
elseif over > 0 then
  for i, ring in ipairs(rings) do
    count(ring, MINUTE, now, 0, over)
    if i == 1 then count(ring, DAY, now, 0, over) end
  end
  for i = QUOTAS, #ARGV, 2 do count_quota(tonumber(ARGV[i]), ARGV[i + 1], now, 0, over) end
elseif over < 0 and lease then
  for i, ring in ipairs(rings) do
    refund(ring, MINUTE, lease.minutes[i], -over)
    if i == 1 then refund(ring, DAY, lease.day, -over) end
  end
  refund_quotas(lease.names, now, -over)
end
local balance
if credits >= 0 then balance = charge(tags[#tags], credits - (paid or 0), ARGV[6] == '1') end
if lease then
  table.remove(kept, 1)
  enlist(fields, kept, -1, lease, {}, { id })
  call('ZREM', KEYS[2], id)
elseif code == 3 then
  call('HDEL', KEYS[3], id)
end
return answer(code, balance, max(over, 0))
