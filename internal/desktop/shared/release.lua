-- Ends all at a workstation. A release that comes twice, or late, changes nothing.
--   ARGV  desk, generation; 0: the release is not stored, and holds until it is taken back
--   answer  a pair "session node" of each that ends
local desk, gen = ARGV[4], tonumber(ARGV[5])
local d = workstation(desk)
local key = T .. 'd:' .. desk
if gen == 0 then
	redis.call('HSET', key, 'shut', '1')
	last(key, now + DAY)
elseif gen <= d.gen then
	return {}
else
	released(d, gen)
end
local ended = {}
for id, s in pairs(d.sessions) do
	ended[#ended + 1] = id .. ' ' .. s.n
	expel(desk, id, s, 'released')
end
for _, hash in ipairs(d.tokens) do
	local t = token(hash)
	if t and not t.w and now < t.u then redis.call('HSET', T .. 't:' .. hash, 'w', 'released') end
	redis.call('HDEL', key, 't:' .. hash)
end
return ended
