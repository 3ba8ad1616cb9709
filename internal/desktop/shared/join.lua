-- Opens a session.
--   ARGV  session, hash, what lists show, rule, greatest number of sessions, client, whether a token
--         is good for its first client only, generation, shared, time that the token lives after it
--   answer  code, "" if it is open; begun, latest end; then a pair "session node" of each replaced
local lost = lease() or fence()
if lost then return lost end
local id, hash, rule, client = ARGV[4], ARGV[5], ARGV[7], ARGV[9]
local t, d = find(hash)
if not t then return {'unknown'} end
local desk = t.d
if d.sessions[id] then return {'', d.sessions[id].b, us(t.u)} end -- the message came twice
released(d, tonumber(ARGV[11]))
local why = dead(t, d)
if why then return {why} end
if ARGV[10] == '1' and t.c ~= '' and t.c ~= client then return {'pinned'} end
local hit, code = conflicts(t, d, rule, ARGV[12] == '1', client, tonumber(ARGV[8]), true)
if code then return {code} end
local answer = {'', us(now), us(t.u)}
for _, other in ipairs(hit) do
	answer[#answer + 1] = other .. ' ' .. d.sessions[other].n
	expel(desk, other, d.sessions[other], 'replaced')
end
if t.c == '' then redis.call('HSET', T .. 't:' .. hash, 'c', client) end
redis.call('HSET', T .. 'd:' .. desk, 's:' .. id, cjson.encode({
	n = node, t = hash, h = ARGV[12], a = client, r = ARGV[13], b = us(now), u = us(t.u), i = ARGV[6]}))
redis.call('HSET', T .. 'v:' .. node, id, desk .. ' 0 0')
if has(t, 'o') then redis.call('HSET', T .. 't:' .. hash, 'w', 'used') end
if t.p ~= '' then redis.call('ZADD', T .. 'tpl', us(t.u), t.p) end
return answer
