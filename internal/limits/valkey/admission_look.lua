-- Reads windows and places, and changes nothing.
--
--   ARGV  4 rates: how many follow
--         name, seconds    of each rate
--         subject          of places
--   answer  of each rate: what is counted, microseconds until nothing counts; of each subject: places
--           that are held, calls that wait
local rates = tonumber(ARGV[4])
local answer = {}
for i = 1, rates do
	local w = open(ARGV[i * 2 + 3], tonumber(ARGV[i * 2 + 4]))
	answer[#answer + 1] = w.total
	answer[#answer + 1] = reset(w)
end
for i = 5 + rates * 2, #ARGV do
	local read = redis.call('HMGET', T .. 'g:' .. ARGV[i], 'p', 'd')
	answer[#answer + 1] = tonumber(read[1] or 0)
	answer[#answer + 1] = (read[2] or 0) - (read[1] or 0)
end
return answer
