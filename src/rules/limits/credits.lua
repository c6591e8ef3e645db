-- Changes a balance.
--
-- KEYS[1]  hash of credits, as in ring.lua     KEYS[2]  marker of this change
-- ARGV[1]  'add' (once per marker) | 'open' (unless there is a balance) | 'set' | 'fund' (up to what was granted)
-- ARGV[2]  credits                             ARGV[3]  milliseconds the marker lives
-- ARGV[4]  of 'fund': epoch                    ARGV[5]  of 'fund': revision
--
-- Reply: whether it acted, the balance after.

local balance = redis.call('HGET', KEYS[1], 'b')
if ARGV[1] == 'add' then
  if not redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[3]) then return { 0, tonumber(balance or 0) } end
  return { 1, redis.call('HINCRBY', KEYS[1], 'b', ARGV[2]) }
end
if ARGV[1] == 'fund' then
  local known = redis.call('HMGET', KEYS[1], 'fg', 'fe', 'fr')
  if balance and known[3] and tonumber(ARGV[5]) <= tonumber(known[3]) then return { 0, tonumber(balance) } end
  redis.call('HSET', KEYS[1], 'fg', ARGV[2], 'fe', ARGV[4], 'fr', ARGV[5])
  if balance and known[2] == ARGV[4] then
    return { 1, redis.call('HINCRBY', KEYS[1], 'b', string.format('%.0f', tonumber(ARGV[2]) - tonumber(known[1]))) }
  end
  redis.call('HSET', KEYS[1], 'b', ARGV[2])
  return { 1, tonumber(ARGV[2]) }
end
if ARGV[1] == 'open' and balance then return { 0, tonumber(balance) } end
redis.call('HSET', KEYS[1], 'b', ARGV[2])
return { 1, tonumber(ARGV[2]) }
