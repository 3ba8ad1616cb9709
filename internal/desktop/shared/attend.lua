-- Compares the sessions of a node with those that are known, and notes their bytes.
--   ARGV  number of keys, their issuers, then of each session: session, bytes up, bytes down
--   answer  its sessions; those that must end: session, why; marks of keys: issuer, before, end
local lost = lease()
if lost then return lost end
local keys = tonumber(ARGV[4])
local marks = {}
for i = 5, 4 + keys do
	local r = redis.call('HGETALL', T .. 'k:' .. ARGV[i])
	for j = 1, #r, 2 do
		marks[#marks + 1] = ARGV[i]
		marks[#marks + 1] = r[j]
		marks[#marks + 1] = r[j + 1]
	end
end
for i = 5 + keys, #ARGV, 3 do
	local desk = string.match(redis.call('HGET', T .. 'v:' .. node, ARGV[i]) or '', '^%S+')
	if desk then redis.call('HSET', T .. 'v:' .. node, ARGV[i], desk .. ' ' .. ARGV[i + 1] .. ' ' .. ARGV[i + 2]) end
end
return {redis.call('HKEYS', T .. 'v:' .. node), redis.call('HGETALL', T .. 'x:' .. node), marks}
