-- Begins every script about desktops, behind prelude.lua. All times are microseconds of the engine.
--
--   T t:HASH            hash    a token, by the hex of its SHA-256
--     d desk "tenant/name"  k issuer "tenant/key"  j issuer, JSON  f flags: v view-only, s shared,
--       o for one session, and a claim: y yields, m takes what is of its key, a takes all
--     i issued  u latest end  l end while no session is open  c first client  g generation
--     p prefix  w why it is dead: expired, released, revoked, used
--   T tp:PREFIX         string  the hash of the token that begins so
--   T tpl               zset    prefix -> until when a viewer's response is held against it
--   T d:TENANT/NAME     hash    a workstation:
--     gen number of its last release   shut a release that is not stored
--     t:HASH "" a token that may live  s:SESSION JSON: n node, t token, h shared, a client,
--     r time that the token lives after it, b begun, u end, i what lists show
--   T v:NODE            hash    session -> "desk bytes-up bytes-down"
--   T x:NODE            hash    session that the node must end -> why
--   T k:TENANT/KEY      hash    revoked at -> end of the tokens that were issued up to then
--
-- A token dies without being touched: a release raises gen, a revocation writes T k:.
local DAY, HOUR = 86400e6, 3600e6

local function us(n) return string.format('%.0f', n) end

local known = {}
-- lives reports whether the lease of a node does.
local function lives(n)
	if known[n] == nil then
		local ends = redis.call('ZSCORE', T .. 'nodes', n)
		known[n] = ends and tonumber(ends) > now or false
	end
	return known[n]
end

-- last lets a key exist until a time at least.
local function last(key, ends)
	local ms = math.floor(ends / 1000)
	if redis.call('PTTL', key) < ms - math.floor(now / 1000) then
		redis.call('PEXPIREAT', key, string.format('%.0f', ms))
	end
end

-- token returns a token, nil if there is none. The marks of its key count.
local function token(hash)
	local r = redis.call('HGETALL', T .. 't:' .. hash)
	if #r == 0 then return nil end
	local t = {hash = hash}
	for i = 1, #r, 2 do t[r[i]] = r[i + 1] end
	t.i, t.u, t.l, t.g = tonumber(t.i), tonumber(t.u), tonumber(t.l), tonumber(t.g)
	local marks = redis.call('HGETALL', T .. 'k:' .. t.k)
	for i = 1, #marks, 2 do
		local before, ends = tonumber(marks[i]), tonumber(marks[i + 1])
		if before >= t.i then
			if ends <= before then t.w = t.w or 'revoked' end
			if ends < t.u then t.u = ends end
		end
	end
	return t
end

-- drop takes out a session that is over. Its token can be used again for a while.
local function drop(desk, id, s)
	redis.call('HDEL', T .. 'd:' .. desk, 's:' .. id)
	redis.call('HDEL', T .. 'v:' .. s.n, id)
	local key = T .. 't:' .. s.t
	if redis.call('EXISTS', key) == 1 then
		redis.call('HSET', key, 'l', us(now + tonumber(s.r)))
		local prefix = redis.call('HGET', key, 'p')
		if prefix ~= '' then redis.call('ZADD', T .. 'tpl', us(now + tonumber(s.r) + HOUR), prefix) end
	end
end

-- expel ends a session that is open at a node.
local function expel(desk, id, s, why)
	drop(desk, id, s)
	redis.call('HSET', T .. 'x:' .. s.n, id, why)
	last(T .. 'x:' .. s.n, now + HOUR)
end

-- workstation returns what a desk has: its tokens, and its sessions at nodes that live.
local function workstation(desk)
	local r = redis.call('HGETALL', T .. 'd:' .. desk)
	local d = {name = desk, gen = 0, tokens = {}, sessions = {}}
	for i = 1, #r, 2 do
		local field, value = r[i], r[i + 1]
		local kind, id = string.sub(field, 1, 2), string.sub(field, 3)
		if kind == 't:' then
			d.tokens[#d.tokens + 1] = id
		elseif kind == 's:' then
			local s = cjson.decode(value)
			if lives(s.n) then d.sessions[id] = s else drop(desk, id, s) end
		elseif field == 'gen' then
			d.gen = tonumber(value)
		elseif field == 'shut' then
			d.shut = true
		end
	end
	return d
end

-- released notes the generation that a node knows, if it is a later one.
local function released(d, gen)
	if gen > d.gen then
		redis.call('HSET', T .. 'd:' .. d.name, 'gen', us(gen))
		redis.call('HDEL', T .. 'd:' .. d.name, 'shut')
		last(T .. 'd:' .. d.name, now + DAY)
		d.gen, d.shut = gen, nil
	end
end

-- dead returns why a token is, nil if it lives.
local function dead(t, d)
	if t.w then return t.w end
	if d.shut or t.g < d.gen then return 'released' end
	if now >= t.u then return 'expired' end
	if now < t.l then return nil end
	for _, s in pairs(d.sessions) do
		if s.t == t.hash then return nil end
	end
	return 'expired'
end

-- has reports whether a token has a flag.
local function has(t, flag) return string.find(t.f, flag, 1, true) ~= nil end

-- conflicts returns the sessions that a new one would replace, else why it is refused. A token's
-- holder may replace its own session from its own address: its viewer came back before the lost
-- connection was noticed. Claim is whether the token's claim counts.
local function conflicts(t, d, rule, shared, client, most, claim)
	local hit = {}
	for id, s in pairs(d.sessions) do
		local take = claim and (has(t, 'a') or has(t, 'm') and redis.call('HGET', T .. 't:' .. s.t, 'k') == t.k)
		if take or rule ~= 'share' and not (shared and s.h == '1') then
			hit[#hit + 1] = id
			local back = client ~= '' and s.t == t.hash and s.a == client
			if not take and not back and (rule == 'refuse' or claim and has(t, 'y')) then return nil, 'busy' end
		end
	end
	if most then
		local open = 0
		for _, n in ipairs(redis.call('ZRANGEBYSCORE', T .. 'nodes', '(' .. us(now), '+inf')) do
			open = open + redis.call('HLEN', T .. 'v:' .. n)
		end
		if open - #hit >= most then return nil, 'full' end
	end
	return hit
end

-- find returns a token and its desk; nil if there is none. The desk comes first: a session of a dead
-- node leaves its token with time for coming back.
local function find(hash)
	local desk = redis.call('HGET', T .. 't:' .. hash, 'd')
	if not desk then return nil end
	local d = workstation(desk)
	return token(hash), d
end

-- view returns a token as a node reads it.
local function view(t)
	return {hash = t.hash, desk = t.d, issuer = t.j, flags = t.f, issued = us(t.i), ends = us(t.u), deadline = us(t.l),
		client = t.c, generation = us(t.g), prefix = t.p}
end

