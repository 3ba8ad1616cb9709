-- Slots of calls at once ("places" of this node), behind prelude.lua.
--
--   T g:<subject>    hash
--     p              places held by all nodes
--     d              places that all nodes need: those held, and those that their queues wait for
--     n              nodes that need some
--     <node>         "<number> <held> <needed>": the newest statement of a node
--     l              "<node> <microseconds>": who gave places back last while others waited
--     s              "<node> <microseconds>": who wanted one place more and got none, for a call that
--                    does not wait
--   T gn:<node>      set of the subjects of which the node has a statement
--   event places <subject>: places are free and a node waits, the first call of a node waits, or a call
--                           was refused: who has idle places gives them back

-- For so many microseconds what a node gave back is left to those that waited: a little longer than
-- the time between two questions of a node that did not hear of it. For as long a node that was short
-- of places counts as one that waits.
local TURN = 300000

-- From this limit on nodes keep idle places for a while (share.go).
local STEPS = 64

-- others returns the sums of all nodes but one, and the statement of that one.
local function others(key, who)
	local read = redis.call('HMGET', key, 'p', 'd', 'n', who, 'l', 's')
	local number, held, needed = string.match(read[4] or '0 0 0', '^(%d+) (%d+) (%d+)$')
	number, held, needed = tonumber(number), tonumber(held), tonumber(needed)
	local gave, at = string.match(read[5] or '', '^(.+) (%d+)$')
	local short, since = string.match(read[6] or '', '^(.+) (%d+)$')
	if short and now >= since + TURN then
		short = nil
	end
	return {
		held = (read[1] or 0) - held, needed = (read[2] or 0) - needed, nodes = (read[3] or 0) - (needed > 0 and 1 or 0),
		number = number, mine = held, need = needed, known = read[4],
		gave = gave == who and now < at + TURN, short = short,
	}
end

local function tell(subject)
	redis.call('XADD', T .. 'ev', 'MAXLEN', '~', '10000', '*', 'kind', 'places', 'text', subject)
end

local function keep(key, subject, who, o, number, held, needed)
	if needed > 0 then
		redis.call('HSET', key, 'p', o.held + held, 'd', o.needed + needed, 'n', o.nodes + 1, who, number .. ' ' .. held .. ' ' .. needed)
		if not o.known then
			redis.call('SADD', T .. 'gn:' .. who, subject)
		end
	elseif o.nodes == 0 then
		redis.call('DEL', key)
	else
		redis.call('HSET', key, 'p', o.held, 'd', o.needed, 'n', o.nodes)
		redis.call('HDEL', key, who)
	end
	if needed == 0 and o.known then
		redis.call('SREM', T .. 'gn:' .. who, subject)
	end
	if held < o.mine and o.needed > o.held then
		redis.call('HSET', key, 'l', who .. string.format(' %.0f', now))
		tell(subject)
	end
end

-- state takes the statement of this node: it has so many places and wants so many, some of them for
-- calls that can wait. What is held for it gets less only if it gives back what it has not: it may
-- take places of an earlier answer at any moment. It answers the number, the places that it may use,
-- those held for it, how many calls wait, and whether others wait or are short of places. The number is 0 if a
-- later statement had come before.
local function state(subject, limit, number, has, gives, want, queued)
	local key = T .. 'g:' .. subject
	local o = others(key, node)
	if tonumber(number) <= o.number then
		return {0, 0, 0, 0, 0}
	end
	-- While others wait, nobody gets more than its part, or than they leave.
	-- Of a rest, who has more than its part, or has just had it, leaves it to the next one: so a limit
	-- of 1 goes round.
	local part = limit / (o.nodes + 1)
	part = (o.gave or o.mine > math.floor(part)) and math.floor(part) or math.ceil(part)
	part = math.max(part, limit - o.needed)
	local places = math.max(math.min(want, limit - o.held, part), 0)
	local held = math.max(places, has, gives and 0 or o.mine)
	local waiting = math.max(math.min(queued, want - places), 0)
	if waiting > 0 and o.need <= o.mine and o.held > 0 then
		tell(subject)
	end
	keep(key, subject, node, o, number, held, held + waiting)
	if limit >= STEPS and want > has and places <= has and waiting == 0 and o.held > 0 and not o.short then
		redis.call('HSET', key, 's', node .. string.format(' %.0f', now))
		tell(subject)
	end
	local crowded = o.needed > o.held or o.short and o.short ~= node
	return {tonumber(number), places, held, waiting, crowded and 1 or 0}
end

