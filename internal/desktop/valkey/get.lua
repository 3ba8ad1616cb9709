-- Returns values.
--   ARGV  their keys
--   answer  the living nodes, then the values
local answer = {living()}
for i = 4, #ARGV do answer[#answer + 1] = redis.call('GET', T .. ARGV[i]) or '' end
return answer
