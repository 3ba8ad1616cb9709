-- Reads windows and places, and changes nothing.
--
--   ARGV  4 rates: how many follow
--         name       of each rate
--         subject    of places
--   answer  microseconds since 1970; each window, as say appends it; of each subject: places that are
--           held, calls that wait
local rates = tonumber(ARGV[4])
local answer = {now}
for i = 5, 4 + rates do
	say(answer, ARGV[i])
end
for i = 5 + rates, #ARGV do
	local read = redis.call('HMGET', T .. 'g:' .. ARGV[i], 'p', 'd')
	answer[#answer + 1] = tonumber(read[1] or 0)
	answer[#answer + 1] = (read[2] or 0) - (read[1] or 0)
end
return answer
