-- settle ends calls. A message that comes again, because its answer was lost, gets the same answer.
--
--   ARGV   outbox, number of the message ("": a replay), then for each call: call, nano-USD, tokens,
--          hold ("": this node does not know it), in a replay the time of the first answer (us)
--   reply  when the message came first (us); a letter for each call; number, hold of the charged calls
--          that this node did not know, or that a replay finds charged after a crash, each time;
--          account, p, s of all accounts that were looked at; T era then (recover.lua)
--          S  charged             C  charged after a crash: the difference to what was reserved
--          L  charged, but the lease of its node had ended: the book may have a crash that was lost here
--          D  had ended, was refused, or is unknown: charged nothing
--   T q:<outbox>  the answer to its last message; 1 day
--   T l           the time of the newest message (us): what was answered later, a promoted replica has lost
--
-- A call with a hold of this node's went on: if the engine does not know it, the reservation was never
-- made or was lost, and what was used is charged all the same.
local outbox, number = ARGV[4], ARGV[5]
local era = redis.call('GET', T .. 'era') or ''
local replay = number == ''
local last = redis.call('GET', T .. 'q:' .. outbox)
if not replay then
	local failed = fence()
	if failed then return failed end
	if last then
		local answer = cmsgpack.unpack(last)
		if answer[1] == number then return {answer[4], answer[2], answer[3], {}, answer[5]} end
	end
end
-- A replay does not charge what was answered before this time: after four minutes the mark of the end
-- may be gone. After a loss of all data nobody replays: the balances were loaded from the book.
local oldest = now - 240000000
local letters, unknown, dead = {}, {}, lease()
for i = 6, #ARGV, 5 do
	local call, nano, tokens, hold = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), ARGV[i + 3]
	local key = T .. 'h:' .. call
	local mark = redis.call('GET', key) or ''
	local state, letter, had = string.sub(mark, 1, 1), 'D', nil
	local crash = replay and (state == 'C' or state == 'E') and string.sub(mark, 2) or ''
	if state == 'H' then
		local owner
		owner, had = holder(mark)
		redis.call('SREM', T .. 'c:' .. owner, call)
		letter = (dead or owner ~= node) and 'L' or 'S'
	elseif state == 'C' then
		letter, had = 'C', string.sub(mark, 2)
	elseif state ~= 'E' and hold ~= '' and (not replay or tonumber(ARGV[i + 4]) > oldest) then
		letter, had = 'S', hold
	end
	if had then
		local lines = cmsgpack.unpack(had)
		for j = 2, #lines, 5 do
			local used = lines[j + 1] == 'usd' and nano or tokens
			local amount = tonumber(lines[j + 4])
			if state == 'H' then
				add(lines[j], lines[j + 2], lines[j + 3], used, -amount)
			elseif state == 'C' then
				add(lines[j], lines[j + 2], lines[j + 3], used - amount, 0)
			else
				add(lines[j], lines[j + 2], lines[j + 3], used, 0)
			end
		end
	end
	if had and hold == '' or crash ~= '' then
		unknown[#unknown + 1], unknown[#unknown + 2] = text((i - 1) / 5), had or crash
	end
	if had or state == '' and not replay then
		redis.call('SET', key, 'E' .. crash, 'PX', ended)
	end
	letters[#letters + 1] = letter
end
write()
local balances = {}
for _, a in ipairs(order) do
	local n = #balances
	balances[n + 1], balances[n + 2], balances[n + 3] = a.name, text(a.p), text(a.s + a.spent)
end
letters = table.concat(letters)
if not replay then
	redis.call('SET', T .. 'q:' .. outbox, cmsgpack.pack({number, letters, unknown, text(now), era}), 'PX', 86400000)
	redis.call('SET', T .. 'l', text(now))
end
return {text(now), letters, unknown, balances, era}
