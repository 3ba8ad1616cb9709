-- Sliding windows, begun by prelude.lua. They count as limits.Window does, which draws them; the
-- gateway makes refusals and readings of what these scripts answer.
--
--   T w:<unit>/<seconds>:<subject>   hash
--     h       number of the newest slot; never goes back
--     t       sum of all slots
--     0..60   count of slot n, at n % 61: slots h-60 to h
--
-- A slot is a 60th of the window, rounded up to a microsecond. Its number is that of slots since
-- 1970. The key ends two slots after the window.
local SLOTS, STORED, MOST = 60, 61, 9007199254740992

-- open reads a window as it is now, and writes nothing.
local function open(name, seconds)
	local slot = math.ceil(seconds * 1000000 / SLOTS)
	local w = {key = T .. 'w:' .. name, slot = slot, head = math.floor(now / slot), total = 0, gone = {}}
	local read = redis.call('HMGET', w.key, 'h', 't')
	local head = tonumber(read[1] or nil)
	if not head or w.head - head > SLOTS then
		w.empty = true
	elseif w.head <= head then
		w.head, w.total, w.kept = head, tonumber(read[2]), true
	else
		w.total = tonumber(read[2])
		for i = head + 1, w.head do
			w.gone[#w.gone + 1] = i % STORED
		end
		for _, count in ipairs(redis.call('HMGET', w.key, unpack(w.gone))) do
			w.total = w.total - (count or 0)
		end
	end
	return w
end

-- count adds n, which is at least 0, to the newest slot.
local function count(w, n)
	if not w.kept then
		if w.empty then
			redis.call('DEL', w.key)
		elseif #w.gone > 0 then
			redis.call('HDEL', w.key, unpack(w.gone))
		end
		redis.call('HSET', w.key, 'h', string.format('%.0f', w.head), 't', string.format('%.0f', w.total))
		redis.call('PEXPIRE', w.key, math.ceil(w.slot * (SLOTS + 2) / 1000))
		w.kept = true
	end
	n = math.min(n, MOST - w.total)
	if n > 0 then
		local text = string.format('%.0f', n)
		redis.call('HINCRBY', w.key, 't', text)
		redis.call('HINCRBY', w.key, w.head % STORED, text)
	end
end

-- say appends a window as it is stored: h, t, how many slots follow, place and count of each.
local function say(answer, name)
	local all, h, t, slots = redis.call('HGETALL', T .. 'w:' .. name), 0, 0, {}
	for i = 1, #all, 2 do
		local n = tonumber(all[i + 1])
		if all[i] == 'h' then
			h = n
		elseif all[i] == 't' then
			t = n
		else
			slots[#slots + 1], slots[#slots + 2] = tonumber(all[i]), n
		end
	end
	answer[#answer + 1], answer[#answer + 2], answer[#answer + 3] = h, t, #slots / 2
	for i = 1, #slots do
		answer[#answer + 1] = slots[i]
	end
end

