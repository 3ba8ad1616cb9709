-- Begins every script about desktops, behind prelude.lua. Package valkey draws the keys.

-- living returns the nodes whose leases live.
local function living()
	return redis.call('ZRANGEBYSCORE', T .. 'nodes', '(' .. string.format('%.0f', now), '+inf')
end

