-- Takes out the sessions of a dead node.
--   ARGV  the node, how many at most
--   answer  how many are left
if lives(ARGV[4]) and ARGV[4] ~= node then return 0 end -- this node reaps itself when it stops
local key = T .. 'v:' .. ARGV[4]
local r = redis.call('HGETALL', key)
local done = 0
for i = 1, #r, 2 do
	if done == tonumber(ARGV[5]) then return #r / 2 - done end
	local desk = string.match(r[i + 1], '^%S+')
	local s = redis.call('HGET', T .. 'd:' .. desk, 's:' .. r[i])
	s = s and cjson.decode(s)
	if s and s.n == ARGV[4] then drop(desk, r[i], s) else redis.call('HDEL', key, r[i]) end
	done = done + 1
end
redis.call('DEL', T .. 'x:' .. ARGV[4])
return 0
