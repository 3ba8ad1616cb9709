-- Gives the lease back.
--
--   T nodes, T about, T dead, T rec   as in beat.lua and recover.lua
--
--   ARGV  name, "1" if the node holds nothing; else another node reaps it
redis.call('ZREM', T .. 'nodes', node)
redis.call('HDEL', T .. 'about', node)
redis.call('HDEL', T .. 'rec', 'n:' .. ARGV[4])
if ARGV[5] ~= '1' then
	redis.call('ZADD', T .. 'dead', now, node)
end
return 1
