-- Returns the workstations with sessions.
--   ARGV  what begins keys of workstations, of nodes, and of what nodes note; the workstations, none:
--         all that have sessions
--   answer  the living nodes; what they note; then name and value of each workstation
local nodes, notes, names, seen = living(), {}, {}, {}
for i = 7, #ARGV do names[#names + 1] = ARGV[i] end
for i, n in ipairs(nodes) do
	notes[i] = redis.call('GET', T .. ARGV[6] .. n) or ''
	for _, name in ipairs(#ARGV < 7 and redis.call('HVALS', T .. ARGV[5] .. n) or {}) do
		if not seen[name] then names[#names + 1] = name end
		seen[name] = true
	end
end
local answer = {nodes, notes}
for _, name in ipairs(names) do
	answer[#answer + 1] = name
	answer[#answer + 1] = redis.call('GET', T .. ARGV[4] .. name) or ''
end
return answer
