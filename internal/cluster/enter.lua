-- Takes a lease under a new ID: NAME.INCARNATION.
--
--   T v        the layout of the keys: a program of an older one is refused
--   T n:NAME   hash: i its last incarnation, p the process that has the name
--   T nodes    sorted set: ID -> end of its lease (microseconds)
--   T about    hash: ID -> start of its lease (microseconds), a space, hash of its configuration
--   T ev       stream of events
--
--   ARGV  name, process, lease (microseconds), layout, last incarnation of this process, hash of its
--         configuration
--
-- It answers {incarnation, newest event}, or TAKEN if another process has the name. A process that
-- has not renewed its lease for a third of its time is dead.
local name, process, length, layout = ARGV[4], ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local mine, config = tonumber(ARGV[8]), ARGV[9]
local found = tonumber(redis.call('GET', T .. 'v') or layout)
if found > layout then
	return redis.error_reply('LAYOUT ' .. found .. ' is newer than ' .. layout)
end
local key = T .. 'n:' .. name
local last, owner = unpack(redis.call('HMGET', key, 'i', 'p'))
if last and owner ~= process then
	local ends = redis.call('ZSCORE', T .. 'nodes', name .. '.' .. last)
	if ends and tonumber(ends) > now then
		if tonumber(ends) > now + length * 2 / 3 then
			return redis.error_reply('TAKEN another process has the name of this node')
		end
		redis.call('ZADD', T .. 'nodes', now, name .. '.' .. last)
	end
end
local i = math.max(tonumber(last or 0), mine) + 1
local id = name .. '.' .. i
redis.call('SET', T .. 'v', layout)
redis.call('HSET', key, 'i', i, 'p', process)
redis.call('ZADD', T .. 'nodes', now + length, id)
redis.call('HSET', T .. 'about', id, string.format('%.0f %s', now, config))
local newest = redis.call('XREVRANGE', T .. 'ev', '+', '-', 'COUNT', 1)
return {tostring(i), newest[1] and newest[1][1] or '0-0'}
