-- Returns what is stored of a token, and its workstation.
--   ARGV  the token's key, or "" and what begins keys of tokens and the key of its first characters;
--         then what begins keys of workstations and of nodes
--   answer  the living nodes; what is stored of the token; its workstation; the number of sessions
local key, hash = T .. ARGV[4], ''
if ARGV[5] ~= '' then key = key .. (redis.call('GET', T .. ARGV[5]) or '') end
local stored = redis.call('GET', key) or ''
local nodes, open = living(), 0
for _, n in ipairs(nodes) do open = open + redis.call('HLEN', T .. ARGV[7] .. n) end
return {nodes, stored, redis.call('GET', T .. ARGV[6] .. stored) or '', open}
