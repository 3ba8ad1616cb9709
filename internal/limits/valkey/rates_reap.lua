-- Frees the places of a node whose lease has ended.
--
--   ARGV  4 node; 5 how many subjects
--   answer  how many subjects are left
local who, set = ARGV[4], T .. 'gn:' .. ARGV[4]
for _, subject in ipairs(redis.call('SRANDMEMBER', set, ARGV[5])) do
	local key = T .. 'g:' .. subject
	keep(key, subject, who, others(key, who), 0, 0, 0)
	redis.call('SREM', set, subject)
end
return redis.call('SCARD', set)
