-- Returns the sessions of a node that is dead, or is this one: it stops.
--   ARGV  the node, the key of its sessions
for _, n in ipairs(living()) do
	if n == ARGV[4] and n ~= node then return {} end
end
return redis.call('HGETALL', T .. ARGV[5])
