-- look reads accounts.
--
--   ARGV   accounts
--   reply  p, s, r of each; "" if there is none
local found = {}
for i = 4, #ARGV do
	local a = redis.call('HMGET', T .. 'a:' .. ARGV[i], 'p', 's', 'r')
	local n = #found
	found[n + 1], found[n + 2], found[n + 3] = a[1] or '', a[2] or '', a[3] or ''
end
return found
