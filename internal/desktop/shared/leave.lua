-- Ends sessions of this node.
--   ARGV  the sessions
for i = 4, #ARGV do
	local id = ARGV[i]
	local desk = string.match(redis.call('HGET', T .. 'v:' .. node, id) or '', '^%S+')
	if desk then
		local s = redis.call('HGET', T .. 'd:' .. desk, 's:' .. id)
		if s then drop(desk, id, cjson.decode(s)) else redis.call('HDEL', T .. 'v:' .. node, id) end
	end
	redis.call('HDEL', T .. 'x:' .. node, id)
end
return 'ok'
