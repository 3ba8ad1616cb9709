-- Looks at the sessions that a gateway watches.
--   ARGV  share as of find.lua, then of each session: hash, idle, longest, how long ago it was used
--   answer  the number of all sessions, then those that have ended
local answer = {us(count(T .. 'wa'))}
for i = 5, #ARGV, 4 do
	if not find(ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]), tonumber(ARGV[4])) then
		answer[#answer + 1] = ARGV[i]
	end
end
return answer
