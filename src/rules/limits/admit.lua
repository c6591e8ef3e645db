-- Admits a request in every scope at once, or in none. ring.lua and leases.lua stand before it.
--
-- KEYS[1..7]  as in ring.lua
-- KEYS[8..]   a ring for each scope: organization, project where there is one, key; then the marker of the lease
-- ARGV[1]  time, as in ring.lua       ARGV[2]  lease            ARGV[3]  milliseconds it lives; 0 = none is taken
-- ARGV[4]  tokens to reserve          ARGV[5]  credits to hold; -1 = not metered
-- ARGV[6]  most credits the key may spend; -1 = no bound, and then what it spends is not kept
-- ARGV[7]  'admit' | 'watch' (counts, refuses nothing) | 'read' (counts nothing)
-- ARGV[8]  'key' where a refused attempt counts in its key, else 'none'
-- ARGV[9]  how many scopes, then for each: tag ('o', 'p:ID', 'k:ID'), rpm, rpd, tpm, tpd, concurrent; -1 = no limit
-- then for each quota: kind (1 daily, 2 weekly, 3 monthly), subject, requests, tokens
--
-- Reply: code, now, whether the clock fell back, leases pruned, whether there is a balance, balance, credits held in
-- the organization, spent by the key, held in the key, longest wait, whether reservations were summed;
-- for each scope: requests and tokens of the minute, last start in it, the same of the day, live leases;
-- for each quota: requests, tokens, when its period ends;
-- where they were summed, what live leases have reserved: for each scope of the minute's and the day's tokens (the day's
-- of the organization only), for each quota of its tokens; then pairs (bucket, wait) of everything violated.
-- code: 1 admitted, 2 admitted already, 3 settled already, 0 refused, -1 credits too low, -2 no balance known.
-- A bucket is 5 x scope + (0 rpm, 1 rpd, 2 tpm, 3 tpd, 4 concurrent), or 5 x scopes + 2 x quota + (0 requests, 1 tokens).

local MOST_SUMMED = 256 -- leases: a refusal must stay cheap
local ANSWER_TTL = 30000

local lease_id, ttl, tokens, hold, budget, mode = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]),
  tonumber(ARGV[6]), ARGV[7]
local amount = tonumber(ARGV[9])
local rings, now, stepped = open_rings(amount)
local org, key = rings[1], rings[amount]
local marked, marked_bucket = read_marker(call('GET', KEYS[#KEYS]), now)

local tags, limits, fields = {}, {}, { lease_id, 'e', 'ho', 'h', 'co' }
for i = 1, amount do
  local at = 4 + 6 * i
  tags[i] = ARGV[at]
  limits[i] = { tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]),
    tonumber(ARGV[at + 5]) }
  if i > 1 then fields[4 + i] = 'c' .. tags[i] end
end
fields[4] = 'h' .. tags[amount]
local kept = call('HMGET', KEYS[1], unpack(fields))
local pruned = 0
if kept[2] and tonumber(kept[2]) <= now then
  pruned = prune(org, now)
  kept = call('HMGET', KEYS[1], unpack(fields))
end
local held, key_held, concurrent = tonumber(kept[3] or 0), tonumber(kept[4] or 0), {}
for i = 1, amount do concurrent[i] = tonumber(kept[4 + i] or 0) end

local quotas, at = {}, 10 + 6 * amount
while at <= #ARGV do
  local kind, subject = tonumber(ARGV[at]), ARGV[at + 1]
  local present, ends = period(kind, now)
  local used = call('HMGET', KEYS[4 + kind], '@', 'r' .. subject, 't' .. subject)
  local current = tonumber(used[1]) == present
  quotas[#quotas + 1] = { kind = kind, subject = subject, number = present, ends = ends * 86400000,
    requests = current and tonumber(used[2] or 0) or 0, tokens = current and tonumber(used[3] or 0) or 0,
    most_requests = tonumber(ARGV[at + 2]), most_tokens = tonumber(ARGV[at + 3]) }
  at = at + 4
end

-- A request larger than a limit is let in when nothing else is: it asks for no more than the limit.
local function asked(limit)
  return limit > 0 and min(tokens, limit) or tokens
end

local violated, longest, binding = {}, 0, 0
local function violate(bucket, milliseconds)
  violated[#violated + 1], violated[#violated + 2] = bucket, milliseconds
  if milliseconds > longest then longest, binding = milliseconds, bucket end
end
local function check(bucket, ring, w, limit, of_tokens)
  if limit < 0 or (of_tokens and tokens == 0) then return end
  local over = (of_tokens and ring[w + TOKENS] + asked(limit) or ring[w + REQUESTS] + 1) - limit
  if over > 0 then violate(bucket, wait(ring, w, now, over, of_tokens)) end
end
for i = 1, amount do
  local ring, limit, base = rings[i], limits[i], 5 * i - 5
  check(base, ring, MINUTE, limit[1], false)
  check(base + 1, ring, DAY, limit[2], false)
  check(base + 2, ring, MINUTE, limit[3], true)
  if i == 1 then check(base + 3, ring, DAY, limit[4], true) end
  if ttl > 0 and limit[5] >= 0 and concurrent[i] >= limit[5] then violate(base + 4, 1000) end
end
for i, quota in ipairs(quotas) do
  local base = 5 * amount + 2 * i - 2
  if quota.most_requests >= 0 and quota.requests + 1 > quota.most_requests then violate(base, quota.ends - now) end
  if quota.most_tokens >= 0 and tokens > 0 and quota.tokens + asked(quota.most_tokens) > quota.most_tokens then
    violate(base + 1, quota.ends - now)
  end
end

local credits = { false, false }
if hold >= 0 and budget >= 0 then
  credits = call('HMGET', KEYS[4], 'b', tags[amount])
elseif hold >= 0 then
  credits[1] = call('HGET', KEYS[4], 'b')
end
local balance, spent = tonumber(credits[1] or 0), tonumber(credits[2] or 0)

local code = 1
if mode == 'read' then code = 1
elseif marked then code = marked
elseif kept[1] then code = 2
elseif hold >= 0 and not credits[1] then code = -2
elseif mode == 'watch' then code = 1
elseif #violated > 0 then code = 0
elseif hold >= 0 and (balance - held < hold or (budget >= 0 and budget - spent - key_held < hold)) then code = -1
end

-- The same attempt again, its reply lost on the way, must not count twice.
local function remember(answer, bucket)
  call('SET', KEYS[#KEYS], whole(now + ANSWER_TTL) .. ' ' .. answer .. ' ' .. bucket, 'PX', ANSWER_TTL)
end

local function count_requests(taken)
  for i, ring in ipairs(rings) do
    count(ring, MINUTE, now, 1, taken)
    count(ring, DAY, now, 1, i == 1 and taken or 0)
  end
  for _, quota in ipairs(quotas) do
    count_quota(quota.kind, quota.subject, now, 1, taken)
    quota.requests, quota.tokens = quota.requests + 1, quota.tokens + taken
  end
end

if mode ~= 'read' and code == 1 then
  count_requests(tokens)
  if ttl > 0 then
    local names, minutes = {}, {}
    for i = 1, amount do minutes[i] = rings[i][MINUTE + NEXT] - 1 end
    for i = 2, amount do names[i - 1] = tags[i] end
    for _, quota in ipairs(quotas) do
      names[#names + 1] = 'q' .. quota.kind .. whole(quota.number) .. ' ' .. quota.subject
    end
    local holding = max(hold, 0)
    local record = { lease_id, write_lease({ day = org[DAY + NEXT] - 1, minutes = minutes, tokens = tokens, hold = holding,
      used_tokens = 0, used_credits = 0, paid = 0, flags = (hold >= 0 and METERED or 0) + (budget >= 0 and BUDGETED or 0),
      names = '\n' .. table.concat(names, '\n') }) }
    local first, expiry = concurrent[1] == 0, whole(now + ttl)
    for i = 1, amount do
      concurrent[i] = concurrent[i] + 1
      record[1 + 2 * i], record[2 + 2 * i] = fields[4 + i], whole(concurrent[i])
    end
    if holding > 0 then
      held = held + holding
      record[#record + 1], record[#record + 2] = 'ho', whole(held)
      if budget >= 0 then
        key_held = key_held + holding
        record[#record + 1], record[#record + 2] = fields[4], whole(key_held)
      end
    end
    if first then record[#record + 1], record[#record + 2] = 'e', expiry end
    call('HSET', KEYS[1], unpack(record))
    call('ZADD', KEYS[2], expiry, lease_id)
    if first or org[RENEWED] then
      call('PEXPIRE', KEYS[1], RING_TTL)
      call('PEXPIRE', KEYS[2], RING_TTL)
    end
  else
    remember(2, 0)
  end
elseif code == -1 and marked then
  violated, longest = {}, 0 -- only by itself
elseif code == -1 then
  count_requests(0)
  remember(code, 0)
elseif code == 0 and marked then
  if #violated == 0 then violate(marked_bucket, 1) end
elseif code == 0 and ARGV[8] == 'key' then
  -- Where the key has room, and never above its limit; then the wait must hold for the key as it is now.
  local limit = limits[amount]
  local minute, day = limit[1] < 0 or key[MINUTE + REQUESTS] < limit[1], limit[2] < 0 or key[DAY + REQUESTS] < limit[2]
  if minute and day then
    count(key, MINUTE, now, 1, 0)
    count(key, DAY, now, 1, 0)
    remember(code, binding)
    if limit[1] >= 0 and key[MINUTE + REQUESTS] >= limit[1] then
      longest = max(longest, wait(key, MINUTE, now, key[MINUTE + REQUESTS] + 1 - limit[1], false))
    end
    if limit[2] >= 0 and key[DAY + REQUESTS] >= limit[2] then
      longest = max(longest, wait(key, DAY, now, key[DAY + REQUESTS] + 1 - limit[2], false))
    end
  end
end

local function violates_tokens()
  for i = 1, #violated, 2 do
    local of_quota = violated[i] - 5 * amount
    local metric = of_quota < 0 and violated[i] % 5 or 2 * (of_quota % 2)
    if metric == 2 or metric == 3 then return true end
  end
  return false
end

local function has_name(lease, name)
  local _, last = lease:find(name, LEASE_SIZE + 1, true)
  return last and (last == #lease or lease:byte(last + 1) == 10)
end

-- What live leases have reserved in the windows as they are now. Reads of each lease no more than it needs.
local function sum_reserved()
  local sums, names = {}, {}
  for i = 1, 2 * amount + #quotas do sums[i] = 0 end
  for i = 2, amount do names[i] = '\n' .. tags[i] end
  for i, quota in ipairs(quotas) do
    names[amount + i] = '\nq' .. quota.kind .. whole(quota.number) .. ' ' .. quota.subject
  end
  local function add(at, ring, w, cell, reserved)
    if cell >= ring[w + HEAD] and cell < ring[w + NEXT] then sums[at] = sums[at] + reserved end
  end
  for _, lease in ipairs(call('HVALS', KEYS[1])) do
    if #lease >= LEASE_SIZE then -- the others are counts
      local day, first, second, third, reserved = unpack_at('<I4I4I4I4I6', lease)
      local of_key = lease:byte(LEASE_SIZE + 2) == 112 and third or second -- a 'p' stands before it
      add(1, org, MINUTE, first, reserved)
      add(2, org, DAY, day, reserved)
      for i = 2, amount do
        if has_name(lease, names[i]) then add(2 * i - 1, rings[i], MINUTE, i == amount and of_key or second, reserved) end
      end
      for i = 1, #quotas do
        if has_name(lease, names[amount + i]) then sums[2 * amount + i] = sums[2 * amount + i] + reserved end
      end
    end
  end
  return sums
end

save_changed(rings, now)
local summed = (mode == 'read' or (code == 0 and violates_tokens())) and concurrent[1] <= MOST_SUMMED
local reply = { code, now, stepped, pruned, credits[1] and 1 or 0, balance, held, spent, key_held, longest, summed and 1 or 0 }
for i, ring in ipairs(rings) do
  local at = 4 + 7 * i
  reply[at + 1], reply[at + 2], reply[at + 3] = ring[MINUTE + REQUESTS], ring[MINUTE + TOKENS], ring[MINUTE + LAST]
  reply[at + 4], reply[at + 5], reply[at + 6] = ring[DAY + REQUESTS], ring[DAY + TOKENS], ring[DAY + LAST]
  reply[at + 7] = concurrent[i]
end
for _, quota in ipairs(quotas) do
  local next = #reply
  reply[next + 1], reply[next + 2], reply[next + 3] = quota.requests, quota.tokens, quota.ends
end
if summed then
  for _, sum in ipairs(sum_reserved()) do reply[#reply + 1] = sum end
end
for _, number in ipairs(violated) do reply[#reply + 1] = number end
return reply
