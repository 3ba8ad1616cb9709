-- Renews the lease and says how the cluster is.
--
--   T nodes   sorted set: ID -> end of its lease (microseconds)
--   T dead    sorted set: ID whose lease has ended -> when it may be given to a node to reap, again
--   T tried   hash: ID of such a node -> name of the node that it was given to last
--   T about   hash: ID -> start of its lease (microseconds), a space, hash of its configuration
--   T n:NAME  hash of the name; ends when it was not used for a day
--   T e       epoch: replication ID under which the ledger is whole
--   T rec     hash of the last recovery (recover.lua)
--   T era     when the balances were loaded last (recover.lua)
--
--   ARGV  name, lease (microseconds), hash of the configuration
--
-- It answers {now, replication ID, epoch, node to reap, era, ID, end, about, ID, end, about, ...}.
local most, day = 16, 86400 -- nodes that end at a beat; seconds
local refused = lease()
if refused then
	return refused
end
local name, length, config = ARGV[4], tonumber(ARGV[5]), ARGV[6]
redis.call('ZADD', T .. 'nodes', now + length, node)
redis.call('EXPIRE', T .. 'n:' .. name, day)
local since = string.match(redis.call('HGET', T .. 'about', node) or '', '^%d+') or string.format('%.0f', now)
redis.call('HSET', T .. 'about', node, since .. ' ' .. config)

local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local epoch = redis.call('GET', T .. 'e') or ''
local reap = ''
-- The clock of a new master may be ahead: for the time of a lease nobody is taken for dead.
local began = tonumber(redis.call('HGET', T .. 'rec', 'since') or 0)
if epoch == id and now >= began + length then
	for _, dead in ipairs(redis.call('ZRANGEBYSCORE', T .. 'nodes', '-inf', now, 'LIMIT', 0, most)) do
		redis.call('ZREM', T .. 'nodes', dead)
		redis.call('HDEL', T .. 'about', dead)
		redis.call('ZADD', T .. 'dead', now, dead)
	end
	-- Whoever was given a node last lets others go first for half a lease: it may fail at this one alone.
	for _, dead in ipairs(redis.call('ZRANGEBYSCORE', T .. 'dead', '-inf', now, 'LIMIT', 0, most)) do
		local due = tonumber(redis.call('ZSCORE', T .. 'dead', dead))
		if redis.call('HGET', T .. 'tried', dead) ~= name or now >= due + length / 2 then
			redis.call('ZADD', T .. 'dead', now + length, dead)
			redis.call('HSET', T .. 'tried', dead, name)
			redis.call('EXPIRE', T .. 'tried', day)
			reap = dead
			break
		end
	end
end
local answer = {string.format('%.0f', now), id, epoch, reap, redis.call('GET', T .. 'era') or '0'}
local live = redis.call('ZRANGEBYSCORE', T .. 'nodes', string.format('(%.0f', now), '+inf', 'WITHSCORES')
for i = 1, #live, 2 do
	answer[#answer + 1] = live[i]
	answer[#answer + 1] = live[i + 1]
	answer[#answer + 1] = redis.call('HGET', T .. 'about', live[i]) or ''
end
return answer
