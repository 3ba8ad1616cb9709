-- Keeps a session.
--   ARGV  hash, JSON, owner, idle, longest, most of an owner, most of all
--   answer  the sessions that had to end for it
local hash, owner = ARGV[4], ARGV[6]
if redis.call('EXISTS', T .. 'w:' .. hash) == 1 then return {} end -- the message came twice
local gone = {}
local function room(key, most)
	if count(key) >= most then
		local first = redis.call('ZRANGE', key, 0, 0)[1]
		if not drop(first) then redis.call('ZREM', key, first) end
		gone[#gone + 1] = first
	end
end
room(T .. 'wo:' .. owner, tonumber(ARGV[9]))
room(T .. 'wa', tonumber(ARGV[10]))
redis.call('HSET', T .. 'w:' .. hash, 'j', ARGV[5], 'o', owner, 's', us(now))
write(hash, owner, now, now + math.min(tonumber(ARGV[7]), tonumber(ARGV[8])))
return gone
