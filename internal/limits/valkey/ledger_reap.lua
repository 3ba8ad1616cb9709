-- reap charges calls of a dead node what they had reserved.
--
--   ARGV   the dead node, how many calls at most, then the crashes whose rows are written
--   reply  crashes whose rows are not written: <length of the call>:<call><hold>
--   T x:<node>  list  of those crashes: whoever reaps next answers them again
--
-- It takes further calls only when the list is empty. A settlement that still comes finds C.
local failed = fence() or lease()
if failed then return failed end
local dead = ARGV[4]
local alive = redis.call('ZSCORE', T .. 'nodes', dead)
if alive and tonumber(alive) > now and dead ~= node then return {} end -- its own: it stops
local list, calls = T .. 'x:' .. dead, T .. 'c:' .. dead
for i = 6, #ARGV do redis.call('LREM', list, 1, ARGV[i]) end
if redis.call('EXISTS', list) == 0 then
	for _, call in ipairs(redis.call('SRANDMEMBER', calls, ARGV[5])) do
		local mark = redis.call('GET', T .. 'h:' .. call) or ''
		if string.sub(mark, 1, 1) == 'H' then
			local owner, hold = holder(mark)
			if owner == dead then
				local lines = cmsgpack.unpack(hold)
				for i = 2, #lines, 5 do
					local amount = tonumber(lines[i + 4])
					add(lines[i], lines[i + 2], lines[i + 3], amount, -amount)
				end
				redis.call('SET', T .. 'h:' .. call, 'C' .. hold, 'PX', crashed)
				redis.call('RPUSH', list, #call .. ':' .. call .. hold)
			end
		end
		redis.call('SREM', calls, call)
	end
	write()
end
return redis.call('LRANGE', list, 0, -1)
