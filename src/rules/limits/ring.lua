-- Sliding windows: stands before leases.lua, and with it before admit, settle and renew.
--
-- KEYS[1]  hash of leases: lease -> record; c<tag> -> live leases of a scope; h<tag> -> credits they hold;
--          e -> no lease expires before; r -> when the counts were last made anew
-- KEYS[2]  sorted set of the leases by expiry
-- KEYS[3]  hash of tombstones: what a pruned lease has been charged already
-- KEYS[4]  hash of credits: b -> balance; k:<id> -> spent by that key; fg, fe, fr -> what it was funded with (no expiry)
-- KEYS[5..7]  hashes of quotas, daily, weekly, monthly: @ -> period; r<subject>, t<subject> -> used in it
-- KEYS[8]  ring of the organization; further rings and keys are the script's own
-- ARGV[1]  milliseconds since 1970, or '' for the time of Redis
--
-- A ring is a header and two queues of cells (61 of a second, 49 of half an hour). A cell holds last start, requests,
-- tokens, and leaves the window at last start + span, so no span ever holds more than was let in. The newest cell
-- stands in the header: a busy scope costs one write. Cells are known by a sequence number; 0 is none.
-- In the scripts a ring is one flat array, for speed: ring[SEEN], ring[MINUTE + REQUESTS], ring[DAY + LAST] and so on.
-- Denied by OOM, a script must fail before it has changed anything: what adds is written before what removes.

local pack, unpack_at, format, floor, max, min =
  struct.pack, struct.unpack, string.format, math.floor, math.max, math.min
local call = redis.call
local unpack = unpack or table.unpack

local HEADER, HEADER_SIZE = '<I6I4I6I4I4I6I6I4I6I4I6I4I4I6I6I4I6', 86
local CELL, CELL_SIZE = '<I6I4I6', 16
local RING_TTL = '90000000'
local STEP = 5000 -- the clock may fall back so far without being believed
local LEASE_TTL = 30000

local SEEN, MINUTE, DAY, KEY, FRESH, DIRTY, RENEWED = 1, 1, 9, 18, 19, 20, 21
-- Added to MINUTE or DAY. HEAD and NEXT are sequence numbers; OLDEST is not after the last start of the cell at HEAD;
-- the last three are the newest cell.
local REQUESTS, TOKENS, HEAD, NEXT, OLDEST, LAST, LAST_REQUESTS, LAST_TOKENS = 1, 2, 3, 4, 5, 6, 7, 8

local function whole(number)
  return format('%d', number)
end

-- The header only: cells are read when they are needed.
local function read_ring(key)
  local text = call('GETRANGE', key, '0', '85')
  if text == '' then return { 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, key, true, false, false } end
  local seen, mr, mt, mh, mn, mo, ml, mlr, mlt, dr, dt, dh, dn, d_o, dl, dlr, dlt = unpack_at(HEADER, text)
  return { seen, mr, mt, mh, mn, mo, ml, mlr, mlt, dr, dt, dh, dn, d_o, dl, dlr, dlt, key, false, false, false }
end

local function span_of(w)
  return w == MINUTE and 60000 or 86400000
end

local function place(w, sequence)
  if w == MINUTE then return HEADER_SIZE + (sequence % 61) * CELL_SIZE end
  return HEADER_SIZE + (61 + sequence % 49) * CELL_SIZE
end

local function cell(ring, w, sequence)
  if sequence == ring[w + NEXT] - 1 then return ring[w + LAST], ring[w + LAST_REQUESTS], ring[w + LAST_TOKENS] end
  local at = place(w, sequence)
  return unpack_at(CELL, call('GETRANGE', ring[KEY], at, at + CELL_SIZE - 1))
end

local function write_cell(ring, w, sequence, last, requests, tokens)
  call('SETRANGE', ring[KEY], place(w, sequence), pack(CELL, last, requests, tokens))
end

local function evict(ring, w, now)
  local span = span_of(w)
  if ring[w + OLDEST] + span > now then return end
  while ring[w + HEAD] < ring[w + NEXT] do
    local last, requests, tokens = cell(ring, w, ring[w + HEAD])
    ring[w + OLDEST] = last
    if last + span > now then return end
    ring[w + REQUESTS], ring[w + TOKENS] = ring[w + REQUESTS] - requests, ring[w + TOKENS] - tokens
    ring[w + HEAD] = ring[w + HEAD] + 1
    ring[DIRTY] = true
  end
end

local function count(ring, w, now, requests, tokens)
  local slot = w == MINUTE and 1000 or 1800000
  local is_empty = ring[w + HEAD] == ring[w + NEXT]
  if is_empty or floor(now / slot) > floor(ring[w + LAST] / slot) then
    if is_empty then
      ring[w + OLDEST] = now
    else
      write_cell(ring, w, ring[w + NEXT] - 1, ring[w + LAST], ring[w + LAST_REQUESTS], ring[w + LAST_TOKENS])
    end
    ring[w + NEXT], ring[w + LAST], ring[w + LAST_REQUESTS], ring[w + LAST_TOKENS] = ring[w + NEXT] + 1, now, 0, 0
    if w == DAY then ring[RENEWED] = true end
  end
  ring[w + LAST] = max(ring[w + LAST], now)
  ring[w + LAST_REQUESTS], ring[w + LAST_TOKENS] = ring[w + LAST_REQUESTS] + requests, ring[w + LAST_TOKENS] + tokens
  ring[w + REQUESTS], ring[w + TOKENS] = ring[w + REQUESTS] + requests, ring[w + TOKENS] + tokens
  ring[DIRTY] = true
end

-- Counts what began earlier. Cells are never put between others, as leases know them by their numbers: where later ones
-- exist it joins the first of them, and so leaves late rather than early. Nothing where it has left already.
local function count_past(ring, w, start, now, requests, tokens)
  if start + span_of(w) <= now then return end
  local sequence = ring[w + NEXT] - 1
  if sequence < ring[w + HEAD] or start >= ring[w + LAST] then return count(ring, w, start, requests, tokens) end
  while sequence > ring[w + HEAD] and cell(ring, w, sequence - 1) >= start do sequence = sequence - 1 end
  local last, counted, kept = cell(ring, w, sequence)
  if sequence == ring[w + NEXT] - 1 then
    ring[w + LAST_REQUESTS], ring[w + LAST_TOKENS] = counted + requests, kept + tokens
  else
    write_cell(ring, w, sequence, last, counted + requests, kept + tokens)
  end
  ring[w + REQUESTS], ring[w + TOKENS] = ring[w + REQUESTS] + requests, ring[w + TOKENS] + tokens
  ring[DIRTY] = true
end

-- Takes tokens back out of the cell they were reserved in, as far as it is still in the window.
local function refund(ring, w, sequence, tokens)
  if sequence < ring[w + HEAD] or sequence >= ring[w + NEXT] then return end
  local last, requests, kept = cell(ring, w, sequence)
  local back = min(tokens, kept)
  if sequence == ring[w + NEXT] - 1 then
    ring[w + LAST_TOKENS] = kept - back
  else
    write_cell(ring, w, sequence, last, requests, kept - back)
  end
  ring[w + TOKENS] = ring[w + TOKENS] - back
  ring[DIRTY] = true
end

-- How long until `need` of what the window holds has left it; its whole span where it never does.
local function wait(ring, w, now, need, of_tokens)
  for sequence = ring[w + HEAD], ring[w + NEXT] - 1 do
    local last, requests, tokens = cell(ring, w, sequence)
    need = need - (of_tokens and tokens or requests)
    if need <= 0 then return last + span_of(w) - now end
  end
  return span_of(w)
end

local function save_changed(rings, now)
  for _, ring in ipairs(rings) do
    if ring[DIRTY] then
      local header = pack(HEADER, now, unpack(ring, 2, 17))
      if ring[FRESH] then -- at its full size, which spares it growing
        call('SET', ring[KEY], header .. string.rep('\0', 110 * CELL_SIZE), 'PX', RING_TTL)
      else
        call('SETRANGE', ring[KEY], '0', header)
        if ring[RENEWED] then call('PEXPIRE', ring[KEY], RING_TTL) end
      end
    end
  end
end

-- Reads the rings, settles what time it is, lets out what has left the windows.
local function open_rings(amount)
  local now = tonumber(ARGV[1])
  if not now then
    local time = call('TIME')
    now = tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)
  end
  local rings, stepped = {}, 0
  for i = 1, amount do rings[i] = read_ring(KEYS[7 + i]) end
  local seen = rings[1][SEEN]
  if seen > now then
    if seen - now <= STEP then now = seen else stepped = 1 end
  end
  if stepped == 1 then -- leases must not outlive their time by what the clock fell back
    for _, id in ipairs(call('ZRANGEBYSCORE', KEYS[2], whole(now + LEASE_TTL), '+inf')) do
      call('ZADD', KEYS[2], whole(now + LEASE_TTL), id)
    end
    if call('HEXISTS', KEYS[1], 'e') == 1 then call('HSET', KEYS[1], 'e', '0') end
  end
  for i = 1, amount do
    local ring = rings[i]
    if ring[SEEN] > now + STEP then
      ring[MINUTE + HEAD], ring[MINUTE + REQUESTS], ring[MINUTE + TOKENS] = ring[MINUTE + NEXT], 0, 0
      ring[DIRTY] = true
    end
    evict(ring, MINUTE, now)
    evict(ring, DAY, now)
  end
  return rings, now, stepped
end
