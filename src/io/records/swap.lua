-- Changes a key only while it holds what the caller saw there.
--
-- KEYS[1]  pointer or claim
--
-- ARGV[1]  the value seen, or the beginning of it
-- ARGV[2]  the value to put in its place, or '' to remove the key
--
-- Reply: 1 when changed, else 0.

local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, #ARGV[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2])
end
return 1
