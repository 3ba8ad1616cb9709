-- restate says which calls of this node are under way: its ID has changed, or the engine may have lost
-- them. It needs no lease, and runs behind the fence.
--
--   ARGV  for each call: call, hold
for i = 4, #ARGV, 2 do
	local call, hold = ARGV[i], ARGV[i + 1]
	local key = T .. 'h:' .. call
	local mark = redis.call('GET', key)
	if not mark then
		local lines = cmsgpack.unpack(hold)
		for j = 2, #lines, 5 do
			add(lines[j], lines[j + 2], lines[j + 3], 0, tonumber(lines[j + 4]))
		end
	end
	if not mark or string.sub(mark, 1, 1) == 'H' then
		if mark then redis.call('SREM', T .. 'c:' .. holder(mark), call) end
		redis.call('SET', key, 'H' .. node .. '\n' .. (mark and select(2, holder(mark)) or hold))
		redis.call('SADD', T .. 'c:' .. node, call)
	end
end
write()
return 'OK'
