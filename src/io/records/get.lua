-- One record, wherever it lies.
--
-- KEYS[1]  hash of the collection
-- KEYS[2]  own key of the record (used with a ttl)
--
-- ARGV[1]  id
--
-- Reply: "revision\njson", or false.

return redis.call('HGET', KEYS[1], ARGV[1]) or redis.call('GET', KEYS[2])
