-- Counts what a configuration decided and, where too many requests were hit, stops its enforcement (D23).
--
-- KEYS[1]  hash of counts by minute: dMINUTE decided, hMINUTE hit
-- KEYS[2]  until when enforcement is off, in milliseconds; absent = it is on
--
-- ARGV[1]  time in milliseconds; '' = that of Redis
-- ARGV[2]  decided since the last call; 0 = only ask     ARGV[3]  hit since the last call
-- ARGV[4]  share of hits that is still fine              ARGV[5]  decided requests before a share means anything
-- ARGV[6]  window in minutes                             ARGV[7]  cooldown in milliseconds
-- ARGV[8]  channel on which a rollback is told           ARGV[9]  the head of that message
--
-- Reply: code, milliseconds enforcement stays off, decided and hit in the window.
-- code: 0 it goes on, 1 it was off already (and nothing was counted), 2 it is off from now.

local call = redis.call
local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local off = tonumber(call('GET', KEYS[2]) or '0')
if off > now then return { 1, off - now, 0, 0 } end
if tonumber(ARGV[2]) == 0 then return { 0, 0, 0, 0 } end

local minute, window = math.floor(now / 60000), tonumber(ARGV[6])
call('HINCRBY', KEYS[1], 'd' .. minute, ARGV[2])
call('HINCRBY', KEYS[1], 'h' .. minute, ARGV[3])
call('PEXPIRE', KEYS[1], (window + 1) * 60000)

local sums, counts = { d = 0, h = 0 }, call('HGETALL', KEYS[1])
for i = 1, #counts, 2 do
  local kind, at = string.sub(counts[i], 1, 1), tonumber(string.sub(counts[i], 2))
  if at <= minute - window then
    call('HDEL', KEYS[1], counts[i])
  else
    sums[kind] = sums[kind] + tonumber(counts[i + 1])
  end
end
if sums.d < tonumber(ARGV[5]) or sums.h <= tonumber(ARGV[4]) * sums.d then return { 0, 0, sums.d, sums.h } end

local cooldown = tonumber(ARGV[7])
call('DEL', KEYS[1])
call('SET', KEYS[2], string.format('%d', now + cooldown), 'PX', math.max(1, cooldown))
call('PUBLISH', ARGV[8], ARGV[9] .. '\n' .. cooldown .. '\n' .. sums.d .. '\n' .. sums.h)
return { 2, cooldown, sums.d, sums.h }
