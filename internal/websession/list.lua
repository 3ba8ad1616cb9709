-- Lists the sessions of all, a part at a time.
--   ARGV  cursor ("0" begins), about how many
--   answer  the next cursor ("0": that was all), then of each session: hash, JSON
local part = redis.call('ZSCAN', T .. 'wa', ARGV[4], 'COUNT', ARGV[5])
local answer = {part[1]}
for i = 1, #part[2], 2 do
	local json = redis.call('HGET', T .. 'w:' .. part[2][i], 'j')
	if json then
		answer[#answer + 1] = part[2][i]
		answer[#answer + 1] = json
	end
end
return answer
