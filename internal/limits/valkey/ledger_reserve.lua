-- reserve takes the amounts of a call from all its budgets or from none. The keys and the hold are
-- drawn in ledger_accounts.lua.
--
--   ARGV   call, hold, then for each line its limit ("" for none)
--   reply  T                       taken
--          E                       the call has ended
--          R line p s r …          refused: the lines that are short, and their accounts
--          P line p …              these accounts are in a later period; nothing is done
local failed = fence() or lease()
if failed then return failed end
local call, hold = ARGV[4], ARGV[5]
local key = T .. 'h:' .. call
local known = redis.call('GET', key)
if known then
	local state = string.sub(known, 1, 1)
	if state == 'H' then return {'T'} end
	if state == 'R' then return cmsgpack.unpack(string.sub(known, 2)) end
	return {'E'}
end
local lines, fresh, short, later = cmsgpack.unpack(hold), {}, {'R'}, {'P'}
for i = 2, #lines, 5 do
	local number, begins, limit = (i + 3) / 5, tonumber(lines[i + 2]), ARGV[5 + (i + 3) / 5]
	if begins > now / 1000000 + 5 then
		return redis.error_reply('CLOCK the period of a call has not begun')
	end
	local a = redis.call('HMGET', T .. 'a:' .. lines[i], 'p', 's', 'r')
	local p, s, r = a[1], a[2], a[3]
	if not p or tonumber(p) < begins then
		p, s, r, fresh[i] = lines[i + 2], '0', '0', true
	elseif tonumber(p) > begins then
		later[#later + 1], later[#later + 2] = tostring(number), p
	end
	if limit ~= '' then
		local most, spent = tonumber(limit), tonumber(s)
		if spent >= most or spent + tonumber(r) + tonumber(lines[i + 4]) > most then
			local n = #short
			short[n + 1], short[n + 2], short[n + 3], short[n + 4] = tostring(number), p, s, r
		end
	end
end
if #later > 1 then return later end
if #short > 1 then
	redis.call('SET', key, 'R' .. cmsgpack.pack(short), 'PX', 300000)
	return short
end
for i = 2, #lines, 5 do
	local account, ends = T .. 'a:' .. lines[i], lines[i + 3]
	if fresh[i] then
		redis.call('HSET', account, 'p', lines[i + 2], 's', '0', 'r', lines[i + 4])
		if ends ~= '' then
			redis.call('PEXPIRE', account, string.format('%.0f', math.max((ends + 40 * 86400) * 1000 - now / 1000, 300000)))
		end
	elseif lines[i + 4] ~= '0' then
		redis.call('HINCRBY', account, 'r', lines[i + 4])
	end
end
redis.call('SET', key, 'H' .. node .. '\n' .. hold)
redis.call('SADD', T .. 'c:' .. node, call)
return {'T'}
