-- Begins every script of the cluster. All keys share the tag T, so all are in one shard.
--
--   KEYS  T
--   ARGV  node, epoch, now (microseconds; "" is the engine's clock), then those of the script
local T, node, epoch, now = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if now == '' then
	local t = redis.call('TIME')
	now = t[1] * 1000000 + t[2]
else
	now = tonumber(now)
end

-- lease returns an error unless the lease of the node lives. What a dead node holds was given away.
local function lease()
	local ends = redis.call('ZSCORE', T .. 'nodes', node)
	if not ends or tonumber(ends) <= now then
		return redis.error_reply('LEASE_LOST this node is not among the nodes of the cluster')
	end
end

-- fence returns an error after a failover, a restart or a loss of data, until the nodes have said
-- again what they know (FENCED), and to a node that has not done so (REPLAY).
local function fence()
	local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
	if redis.call('GET', T .. 'e') ~= id then
		return redis.error_reply('FENCED the engine was restarted, replaced or emptied')
	end
	if epoch ~= id then
		return redis.error_reply('REPLAY this node has to replay')
	end
end

