-- Makes the ledger whole after a failover, a restart or a loss of data. Money is shut (FENCED) until
-- the nodes have said again what they know.
--
--   T e     epoch: replication ID under which the ledger is whole
--   T era   when the balances were loaded last: a node that knows another era was cut off meanwhile
--   T nodes sorted set: ID -> end of its lease (microseconds)
--   T rec   hash of the last recovery:
--             id        replication ID
--             since     its beginning (microseconds)
--             wiped     1 if T e was missing: the engine has lost everything
--             n:NAME    a node that has still to replay
--             f:NAME    a node that has still to write to PostgreSQL what it alone knows
--             loader    NAME, until (microseconds): the node that loads the balances
--             loaded    1 when it has done so
--
--   ARGV  step, name, lease (microseconds), replication ID that the node recovers, then
--         begin     names of the nodes that it knows; instead of the ID the era, "" if it knows none
--
--   step      answers {replication ID, ...
--   begin       "whole" | "replay" | "wiped"}  whole: the others have finished without this node
--   flushed     "wait" | "load" | "loaded"}    load: this node loads the balances
--   loaded      "wait" | "loaded"}             wait: another node loads them again
--   done        "wait", names of nodes | "open", era}
--
-- Nodes that do not answer are waited for as long as a lease. The loader is always waited for; another
-- one is chosen if it does not come back in that time.
--
-- After a loss of all data, a node that comes late, because it was cut off or the others did not know it,
-- is wiped too: the balances have its settlements, or miss some of them. When it has written them to
-- PostgreSQL, the balances are loaded again. If money was open by then, it is shut, and all nodes write
-- first. So it is with one that finds the era of a loss that it has missed, after a failover: the others
-- have to be whole before it begins.
local step, name, length, wanted = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local refused = lease()
if refused then
	return refused
end
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local rec = T .. 'rec'
local micros = function(n) return string.format('%.0f', n) end
local epoch = redis.call('GET', T .. 'e')
local era = redis.call('GET', T .. 'era') or '0'

-- living returns the names of the nodes whose leases live.
local living = function()
	local names = {}
	for _, live in ipairs(redis.call('ZRANGEBYSCORE', T .. 'nodes', micros(now), '+inf')) do
		names[#names + 1] = string.match(live, '^(.*)%.')
	end
	return names
end
-- await notes nodes that have still to write and to replay.
local await = function(names)
	for _, n in ipairs(names) do
		redis.call('HSET', rec, 'n:' .. n, '1', 'f:' .. n, '1')
	end
end

if step == 'begin' then
	if redis.call('HGET', rec, 'id') ~= id then
		redis.call('DEL', rec)
		redis.call('HSET', rec, 'id', id, 'since', micros(now), 'wiped', epoch and '0' or '1')
		await(epoch and living() or {unpack(ARGV, 8)})
	end
	local wiped = redis.call('HGET', rec, 'wiped') == '1'
	if epoch and not wiped and wanted ~= '' and wanted ~= era then
		if epoch ~= id then
			redis.call('HDEL', rec, 'n:' .. name)
			return redis.error_reply('FENCED the nodes that know the balances go first')
		end
		redis.call('HSET', rec, 'wiped', '1')
		wiped = true
	end
	if epoch == id and not wiped then
		return {id, 'whole'}
	end
	redis.call('HSET', rec, 'n:' .. name, '1')
	if wiped then
		redis.call('HSET', rec, 'f:' .. name, '1')
		return {id, 'wiped'}
	end
	return {id, 'replay'}
end

if id ~= wanted or redis.call('HGET', rec, 'id') ~= id then
	return redis.error_reply('FENCED another recovery has to begin')
end
local loaded = redis.call('HGET', rec, 'loaded') == '1'
if step == 'flushed' and redis.call('HEXISTS', rec, 'f:' .. name) == 1 then
	if epoch == id then
		await(living())
		redis.call('HSET', rec, 'since', micros(now))
		redis.call('DEL', T .. 'e')
	end
	loaded = false
	redis.call('HDEL', rec, 'f:' .. name, 'loaded', 'loader')
end
local over = now >= tonumber(redis.call('HGET', rec, 'since')) + length
-- waits returns the nodes that are waited for.
local waits = function(prefix)
	local names = {}
	for _, field in ipairs(over and {} or redis.call('HKEYS', rec)) do
		if string.sub(field, 1, 2) == prefix then
			names[#names + 1] = string.sub(field, 3)
		end
	end
	return names
end
local loader, till = string.match(redis.call('HGET', rec, 'loader') or '', '^(.*) (%d+)$')
if step == 'flushed' then
	if loaded then
		return {id, 'loaded'}
	end
	if #waits('f:') > 0 or (loader and loader ~= name and tonumber(till) > now) then
		return {id, 'wait'}
	end
	redis.call('HSET', rec, 'loader', name .. ' ' .. micros(now + length))
	return {id, 'load'}
elseif step == 'loaded' then
	if loader ~= name then
		return {id, 'wait'}
	end
	redis.call('HSET', rec, 'loaded', '1')
	redis.call('SET', T .. 'era', id .. ' ' .. micros(now))
	redis.call('HDEL', rec, 'loader')
	return {id, 'loaded'}
end
redis.call('HDEL', rec, 'n:' .. name, 'f:' .. name)
local names = waits('n:')
if epoch ~= id and #names == 0 and (loaded or redis.call('HGET', rec, 'wiped') == '0') then
	redis.call('SET', T .. 'e', id)
	epoch = id
end
if epoch == id then
	return {id, 'open', era}
end
return {id, 'wait', unpack(names)}
