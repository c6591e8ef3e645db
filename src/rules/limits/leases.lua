-- Calendar quotas, leases, credits: stands between ring.lua, whose KEYS and ARGV it shares, and admit, settle and renew.

local TOMB_TTL = 3600000
local MOST_PRUNED = 500

-- The number of the UTC day, week (from Monday) or month, and the day it ends on.
local function period(kind, now)
  local day = floor(now / 86400000)
  if kind == 1 then return day, day + 1 end
  if kind == 2 then
    local week = floor((day + 3) / 7)
    return week, (week + 1) * 7 - 3
  end
  local shifted = day + 719468
  local era = floor(shifted / 146097)
  local of_era = shifted - era * 146097
  local year = floor((of_era - floor(of_era / 1460) + floor(of_era / 36524) - floor(of_era / 146096)) / 365)
  local of_year = of_era - (365 * year + floor(year / 4) - floor(year / 100))
  local month = floor((5 * of_year + 2) / 153) -- 0 is March
  local starts = floor((153 * (month + 1) + 2) / 5)
  local february = year + 1
  local leap = february % 4 == 0 and (february % 100 ~= 0 or february % 400 == 0)
  if month == 11 then starts = leap and 366 or 365 end
  return (era * 400 + year) * 12 + month, day - of_year + starts
end

-- Adds to a quota of the period `number`, or of the present one; an older period is gone, and so is what it held.
local function count_quota(kind, subject, now, requests, tokens, number)
  local key = KEYS[4 + kind]
  local present, ends = period(kind, now)
  local kept = tonumber(call('HGET', key, '@') or -1)
  if number and (number ~= present or number ~= kept) then return end
  if kept ~= present then
    call('DEL', key)
    call('HSET', key, '@', whole(present))
    call('PEXPIREAT', key, whole(ends * 86400000))
  end
  if requests ~= 0 then call('HINCRBY', key, 'r' .. subject, whole(requests)) end
  if tokens ~= 0 and call('HINCRBY', key, 't' .. subject, whole(tokens)) < 0 then
    call('HSET', key, 't' .. subject, '0')
  end
end

-- A lease: cells of its tokens (organization's day; minutes in order of its rings), tokens reserved, credits held, used
-- so far, paid already, flags; then its tags ('o' is left out) and its quotas ('q' kind period ' ' subject), by lines.
local LEASE, LEASE_SIZE = '<I4I4I4I4I6I6I6I6I6B', 47
local METERED, RESTORED, BUDGETED = 1, 2, 4 -- flags

local function write_lease(l)
  return pack(LEASE, l.day, l.minutes[1] or 0, l.minutes[2] or 0, l.minutes[3] or 0, l.tokens, l.hold, l.used_tokens,
    l.used_credits, l.paid, l.flags) .. l.names
end

local function read_lease(text)
  local day, m1, m2, m3, tokens, hold, used_tokens, used_credits, paid, flags = unpack_at(LEASE, text)
  return { day = day, minutes = { m1, m2, m3 }, tokens = tokens, hold = hold, used_tokens = used_tokens,
    used_credits = used_credits, paid = paid, flags = flags, names = text:sub(LEASE_SIZE + 1),
    metered = flags % 2 == 1, restored = flags % 4 >= RESTORED, budgeted = flags >= BUDGETED }
end

local function fields_of(tags, budgeted)
  local fields = { 'ho', 'co' }
  for i, tag in ipairs(tags) do fields[2 + i] = 'c' .. tag end
  if budgeted then fields[#fields + 1] = 'h' .. tags[#tags] end
  return fields
end

-- Changes the live counts and held credits of the lease's scopes by one lease; what falls to nothing is removed.
-- `present` holds the values of `fields`; `set` begins with what else is written, `unset` with what is removed.
-- Only a key with a budget has its own sums of credits.
local function enlist(fields, present, sign, lease, set, unset)
  for i, field in ipairs(fields) do
    local of_key = i > 1 and field:byte() == 104 -- an 'h'
    local by = (i == 1 or of_key and lease.budgeted) and lease.hold or of_key and 0 or 1
    if by > 0 then
      local amount = (tonumber(present[i]) or 0) + sign * by
      if amount > 0 then
        set[#set + 1], set[#set + 2] = field, whole(amount)
      elseif present[i] then
        unset[#unset + 1] = field
      end
    end
  end
  if #set > 0 then call('HSET', KEYS[1], unpack(set)) end
  if #unset > 0 then call('HDEL', KEYS[1], unpack(unset)) end
end

-- The tags among the names of a lease, the key's last.
local function tags_of(names)
  local tags = {}
  for name in names:gmatch('\n([pk][^\n]*)') do tags[#tags + 1] = name end
  return tags
end

-- Charges an organization that has a balance, and a key that has a budget; answers the balance.
local function charge(key_tag, credits, budgeted)
  local balance = call('HGET', KEYS[4], 'b')
  if not balance then return nil end
  if credits == 0 then return tonumber(balance) end
  if budgeted then call('HINCRBY', KEYS[4], key_tag, whole(credits)) end
  return call('HINCRBY', KEYS[4], 'b', whole(-credits))
end

-- Quotas named by a lease: the reservation goes back to the period it was taken from.
local function refund_quotas(names, now, tokens)
  if not names:find('\nq', 1, true) then return end
  for kind, number, subject in names:gmatch('\nq(%d)(%d+) ([^\n]+)') do
    count_quota(tonumber(kind), subject, now, 0, -tokens, tonumber(number))
  end
end

-- Ends leases nobody has renewed: charges the progress they reported, frees what they had reserved beyond it.
local function prune(org, now)
  local expired = call('ZRANGEBYSCORE', KEYS[2], '-inf', whole(now), 'LIMIT', '0', MOST_PRUNED)
  for _, id in ipairs(expired) do
    local text = call('HGET', KEYS[1], id)
    if text then
      local lease = read_lease(text)
      local tags = tags_of(lease.names)
      local accounted, paid = lease.tokens, lease.paid
      if not lease.restored then
        accounted = min(lease.used_tokens, lease.tokens)
        if lease.metered then
          charge(tags[#tags], lease.used_credits - paid, lease.budgeted)
          paid = lease.used_credits
        end
        if accounted < lease.tokens then
          refund(org, DAY, lease.day, lease.tokens - accounted)
          refund_quotas(lease.names, now, lease.tokens - accounted)
        end
      end
      call('HSET', KEYS[3], id, pack('<I6I6I6', now + TOMB_TTL, accounted, paid))
      call('PEXPIRE', KEYS[3], TOMB_TTL)
      local fields = fields_of(tags, lease.budgeted)
      enlist(fields, call('HMGET', KEYS[1], unpack(fields)), -1, lease, {}, { id })
    end
    call('ZREM', KEYS[2], id)
  end
  local earliest = call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')
  if earliest[2] then
    call('HSET', KEYS[1], 'e', earliest[2])
  else
    call('DEL', KEYS[1]) -- nothing lives, so nothing counts
  end
  return #expired
end

local function read_tombstone(id, now)
  local text = call('HGET', KEYS[3], id)
  if not text then return nil end
  local deadline, tokens, paid = unpack_at('<I6I6I6', text)
  if deadline > now then return tokens, paid end
end

-- The marker of a lease: 'DEADLINE' once it is settled, 'DEADLINE CODE BUCKET' where an attempt counted and left none.
-- Answers 3 or that code, as in admit.lua, and the bucket; nothing where it is past its time.
local function read_marker(text, now)
  if not text then return nil end
  local deadline, code, bucket = text:match('^(%d+) ?(%-?%d*) ?(%d*)$')
  if tonumber(deadline) > now then return tonumber(code) or 3, tonumber(bucket) end
end
