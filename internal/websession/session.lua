-- Begins every script about sessions of the console, behind prelude.lua. Times are microseconds of the
-- engine.
--
--   T w:HASH    hash  a session, by the hex of the SHA-256 of its ID:
--     j JSON  o owner  s started  u last use that is written  e end
--   T wo:OWNER  zset  hash -> end, of a key and user
--   T wa        zset  hash -> end, of all
local function us(n) return string.format('%.0f', n) end

-- write notes the last use of a session.
local function write(hash, owner, used, ends)
	local at = string.format('%.0f', math.ceil(ends / 1000))
	redis.call('HSET', T .. 'w:' .. hash, 'u', us(used), 'e', us(ends))
	redis.call('PEXPIREAT', T .. 'w:' .. hash, at)
	redis.call('ZADD', T .. 'wa', us(ends), hash)
	redis.call('ZADD', T .. 'wo:' .. owner, us(ends), hash)
	if redis.call('PTTL', T .. 'wo:' .. owner) < math.ceil((ends - now) / 1000) then
		redis.call('PEXPIREAT', T .. 'wo:' .. owner, at)
	end
end

-- drop ends a session. It reports whether there was one.
local function drop(hash)
	local owner = redis.call('HGET', T .. 'w:' .. hash, 'o')
	redis.call('ZREM', T .. 'wa', hash)
	if not owner then return false end
	redis.call('ZREM', T .. 'wo:' .. owner, hash)
	redis.call('DEL', T .. 'w:' .. hash)
	return true
end

-- find returns a session that lives, as JSON, started, used; nil without one. A use of it, so long ago, is
-- written when a share of its idle time has passed since the last one.
local function find(hash, idle, longest, ago, share)
	local r = redis.call('HMGET', T .. 'w:' .. hash, 'j', 'o', 's', 'u', 'e')
	if not r[1] then return nil end
	local started, used, ends = tonumber(r[3]), tonumber(r[4]), tonumber(r[5])
	if now >= math.min(ends, used + idle, started + longest) then
		drop(hash)
		return nil
	end
	if ago >= 0 and now - ago - used >= idle / share then
		used = now - ago
		write(hash, r[2], used, math.min(used + idle, started + longest))
	end
	return {r[1], us(started), us(used)}
end

-- count forgets the sessions that have ended by themselves, and returns the number of the others.
local function count(key)
	redis.call('ZREMRANGEBYSCORE', key, '-inf', us(now))
	return redis.call('ZCARD', key)
end
