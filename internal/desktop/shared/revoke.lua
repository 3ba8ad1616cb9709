-- Ends at a time all tokens that a key has asked for so far.
--   ARGV  issuer, end, how long tokens can live
--   answer  now
local MARKS = 64 -- of a key: whoever changes its end again and again must not fill the engine
local key, ends = T .. 'k:' .. ARGV[4], tonumber(ARGV[5])
if ends < now then ends = now end
local marks = redis.call('HGETALL', key)
for i = 1, #marks, 2 do
	local e = tonumber(marks[i + 1])
	if e >= ends or e <= now and ends <= now then redis.call('HDEL', key, marks[i]) end -- the new one says more
end
redis.call('HSET', key, us(now), us(ends))
marks = redis.call('HGETALL', key)
if #marks / 2 > MARKS then -- the two oldest become one: some tokens end too early, none too late
	local times = {}
	for i = 1, #marks, 2 do times[#times + 1] = {tonumber(marks[i]), tonumber(marks[i + 1])} end
	table.sort(times, function(a, b) return a[1] < b[1] end)
	redis.call('HDEL', key, us(times[1][1]))
	redis.call('HSET', key, us(times[2][1]), us(math.min(times[1][2], times[2][2])))
end
last(key, now + tonumber(ARGV[6]))
return us(now)
