-- Accounts of budgets and the marks of calls. It comes before settle, reap, restate and load.
--
--   T a:<subject>/<unit>/<period>  hash    p beginning of the current period (Unix s), s spent, r reserved;
--                                          ends 40 days after the period
--   T h:<call>                     string  H<node>\n<hold>  under way
--                                          R<refusal>       refused; 5 minutes
--                                          C<hold>          its node died, charged as reserved; 1 day
--                                          E<hold>          ended; 5 minutes. With the hold if a replay found C
--   T c:<node>                     set     its calls under way
--   T s                            zset    accounts of which something is spent -> end of the period (Unix s)
--   hold  msgpack: admitted (ns), then for each line account, unit, begins, ends (s; "" never), amount
--
-- Numbers of Lua are exact to 2^53. Amounts and limits are at most 9e15, so a comparison is right, and
-- the sum of a message, which is written with HINCRBY (an int64).
local kept, ended, crashed = 40 * 86400, 300000, 86400000
local accounts, order = {}, {}

local function touch(name)
	local a = accounts[name]
	if not a then
		local had = redis.call('HMGET', T .. 'a:' .. name, 'p', 's')
		a = {name = name, p = tonumber(had[1] or '-1'), s = tonumber(had[2] or '0'), spent = 0, reserved = 0}
		accounts[name] = a
		order[#order + 1] = a
	end
	return a
end

-- add changes an account. What belongs to a period that is over has no account any more; what belongs
-- to one that has not begun comes from a wrong clock, and must not end the current one.
local function add(name, begins, ends, spent, reserved)
	local a = touch(name)
	begins = tonumber(begins)
	if a.p < begins and begins <= now / 1000000 + 5 then
		a.p, a.s, a.spent, a.reserved, a.fresh = begins, 0, 0, 0, true
	end
	if a.p == begins then
		a.ends, a.spent = ends, a.spent + spent
		if reserved > 0 or not a.fresh then
			a.reserved = a.reserved + reserved
		end
	end
end

local function text(n) return string.format('%.0f', n) end

-- write writes what was added.
local function write()
	for _, a in ipairs(order) do
		local key = T .. 'a:' .. a.name
		if a.fresh then
			redis.call('HSET', key, 'p', text(a.p), 's', text(a.spent), 'r', text(a.reserved))
			if a.ends ~= '' then
				redis.call('PEXPIRE', key, text(math.max((a.ends + kept) * 1000 - now / 1000, ended)))
			end
		else
			if a.reserved ~= 0 then redis.call('HINCRBY', key, 'r', text(a.reserved)) end
			if a.spent ~= 0 then redis.call('HINCRBY', key, 's', text(a.spent)) end
		end
		if a.s == 0 and a.spent > 0 then
			redis.call('ZADD', T .. 's', a.ends == '' and '+inf' or a.ends, a.name)
			redis.call('ZREMRANGEBYSCORE', T .. 's', '-inf', text(now / 1000000 - kept))
		end
	end
end

-- holder splits the mark of a call under way.
local function holder(mark)
	local at = string.find(mark, '\n', 2, true)
	return string.sub(mark, 2, at - 1), string.sub(mark, at + 1)
end
