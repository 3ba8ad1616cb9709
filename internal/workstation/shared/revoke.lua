-- Ends at a time all tokens that a key has asked for so far.
--   ARGV  issuer, end, how long tokens can live
--   answer  now
local key, ends = T .. 'k:' .. ARGV[4], tonumber(ARGV[5])
if ends < now then ends = now end
local marks = redis.call('HGETALL', key)
for i = 1, #marks, 2 do
	local e = tonumber(marks[i + 1])
	if e >= ends or e <= now and ends <= now then redis.call('HDEL', key, marks[i]) end -- the new one says more
end
redis.call('HSET', key, us(now), us(ends))
last(key, now + tonumber(ARGV[6]))
return us(now)
