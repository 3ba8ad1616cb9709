-- Says again what a node knows of a token, and of its session. The token is written if the engine has
-- lost it.
--   ARGV  hash, desk, issuer, its JSON, flags, issued, latest end, end without a session, client,
--         generation, prefix; then "" or: session, what lists show, rule, shared, client,
--         time that the token lives after it, begun
--   answer  why the session must end, "" if it goes on
local lost = lease()
if lost then return lost end
local hash, desk, id = ARGV[4], ARGV[5], ARGV[15]
local d = workstation(desk)
local t = token(hash)
if not t then
	local key, ends = T .. 't:' .. hash, tonumber(ARGV[10])
	if ends <= now then return 'max_duration' end
	redis.call('HSET', key, 'd', desk, 'k', ARGV[6], 'j', ARGV[7], 'f', ARGV[8], 'i', ARGV[9], 'u', ARGV[10], 'l', ARGV[11],
		'c', ARGV[12], 'g', ARGV[13], 'p', ARGV[14])
	last(key, ends + DAY)
	if ARGV[14] ~= '' then
		redis.call('SET', T .. 'tp:' .. ARGV[14], hash, 'NX')
		last(T .. 'tp:' .. ARGV[14], ends + DAY)
		redis.call('ZADD', T .. 'tpl', ARGV[10], ARGV[14])
	end
	redis.call('HSET', T .. 'd:' .. desk, 't:' .. hash, '')
	last(T .. 'd:' .. desk, ends + DAY)
	t = token(hash)
end
if t.c == '' and ARGV[12] ~= '' then redis.call('HSET', T .. 't:' .. hash, 'c', ARGV[12]) end
if id == '' then return '' end
if not t.w and has(t, 'o') then redis.call('HSET', T .. 't:' .. hash, 'w', 'used') end
if t.w == 'revoked' then return 'removed' end
if t.w == 'released' or d.shut or t.g < d.gen then return 'released' end
if now >= t.u then return 'max_duration' end
if not d.sessions[id] then
	if #(conflicts(t, d, ARGV[17] == 'share' and 'share' or 'replace', ARGV[18] == '1', '')) > 0 then return 'replaced' end
	redis.call('HSET', T .. 'd:' .. desk, 's:' .. id, cjson.encode({
		n = node, t = hash, h = ARGV[18], a = ARGV[19], r = ARGV[20], b = ARGV[21], u = us(t.u), i = ARGV[16]}))
	last(T .. 'd:' .. desk, t.u + DAY)
end
redis.call('HSET', T .. 'v:' .. node, id, desk .. ' 0 0')
return ''
