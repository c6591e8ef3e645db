-- Keeps the latest use per id; an older one changes nothing.
--
-- KEYS[1]  hash of last uses
--
-- ARGV     id, milliseconds, id, milliseconds, ...

for i = 1, #ARGV, 2 do
  local last = redis.call('HGET', KEYS[1], ARGV[i])
  if not last or tonumber(last) < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
