-- Returns what workstations have at all nodes.
--   ARGV  the desks; none: those with sessions
--   answer  of each: desk, number of live tokens, JSON of its sessions
local desks, seen = {}, {}
for i = 4, #ARGV do desks[#desks + 1] = ARGV[i] end
local bytes = {}
for _, n in ipairs(redis.call('ZRANGEBYSCORE', T .. 'nodes', '(' .. us(now), '+inf')) do
	local r = redis.call('HGETALL', T .. 'v:' .. n)
	for i = 1, #r, 2 do
		bytes[r[i]] = r[i + 1]
		local desk = string.match(r[i + 1], '^%S+')
		if #ARGV < 4 and not seen[desk] then
			seen[desk] = true
			desks[#desks + 1] = desk
		end
	end
end
local answer = {}
for _, desk in ipairs(desks) do
	local d, live, sessions = workstation(desk), 0, {}
	for _, h in ipairs(d.tokens) do
		local t = token(h)
		if t and not dead(t, d) then live = live + 1 end
	end
	for id, s in pairs(d.sessions) do
		sessions[#sessions + 1] = {id = id, node = s.n, begun = s.b, ends = s.u, info = s.i, bytes = bytes[id] or ''}
	end
	answer[#answer + 1] = {desk, tostring(live), #sessions > 0 and cjson.encode(sessions) or '[]'}
end
return answer
