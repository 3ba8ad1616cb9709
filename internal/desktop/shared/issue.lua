-- Makes a token live.
--   ARGV  hash, desk, issuer, its JSON, flags, life, longest, the issuer's end or "", generation,
--         greatest number of live tokens, prefix
--   answer  outcome; with ok: issued, latest end, end without a session
local lost = lease()
if lost then return lost end
local hash, desk, gen = ARGV[4], ARGV[5], tonumber(ARGV[12])
local key, prefix = T .. 't:' .. hash, ARGV[14]
local there = token(hash)
if there then return {'ok', us(there.i), us(there.u), us(there.l)} end -- the message came twice
local d = workstation(desk)
if gen < d.gen then return {'stale'} end
released(d, gen)
if d.shut then return {'released'} end
local live = 0
for _, h in ipairs(d.tokens) do
	local t = token(h)
	if not t or dead(t, d) then redis.call('HDEL', T .. 'd:' .. desk, 't:' .. h) else live = live + 1 end
end
if live >= tonumber(ARGV[13]) then return {'exceeded'} end
local ends = now + tonumber(ARGV[10])
if ARGV[11] ~= '' then ends = math.min(ends, tonumber(ARGV[11])) end
local deadline = math.min(now + tonumber(ARGV[9]), ends)
if prefix ~= '' then
	if not redis.call('SET', T .. 'tp:' .. prefix, hash, 'NX') then return {'taken'} end
	last(T .. 'tp:' .. prefix, ends + DAY)
	redis.call('ZADD', T .. 'tpl', us(deadline + HOUR), prefix)
	redis.call('ZREMRANGEBYSCORE', T .. 'tpl', '-inf', us(now))
end
redis.call('HSET', key, 'd', desk, 'k', ARGV[6], 'j', ARGV[7], 'f', ARGV[8], 'i', us(now), 'u', us(ends), 'l', us(deadline),
	'c', '', 'g', ARGV[12], 'p', prefix)
last(key, ends + DAY)
redis.call('HSET', T .. 'd:' .. desk, 't:' .. hash, '')
last(T .. 'd:' .. desk, ends + DAY)
return {'ok', us(now), us(ends), us(deadline)}
