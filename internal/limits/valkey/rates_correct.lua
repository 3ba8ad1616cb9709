-- Corrects what calls have counted: less in the slot of the call, unless it has left the window; more
-- in the newest slot.
--
--   ARGV  from 4 on: name, seconds, slot, difference    of each correction
for i = 4, #ARGV, 4 do
	local w = open(ARGV[i], tonumber(ARGV[i + 1]))
	local slot, n = tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
	if n > 0 then
		count(w, n)
	elseif not w.empty and slot >= w.head - SLOTS then
		count(w, 0)
		n = math.max(n, -(redis.call('HGET', w.key, slot % STORED) or 0))
		local text = string.format('%.0f', n)
		redis.call('HINCRBY', w.key, slot % STORED, text)
		redis.call('HINCRBY', w.key, 't', text)
	end
end
return 0
