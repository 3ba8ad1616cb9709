-- Writes if what was read has not changed.
--   ARGV  "lease" or "fence", if the node needs it; the key that is compared, and how its value began;
--         keys that must not be there, JSON; the number of sessions that are too many, 0 for none, and
--         what begins the keys of nodes that have them; commands, JSON
--   answer  "stored", "changed", "taken", "full"
local lost = ARGV[4] ~= '' and lease() or ARGV[4] == 'fence' and fence()
if lost then return lost end
if string.sub(redis.call('GET', T .. ARGV[5]) or '', 1, 16) ~= ARGV[6] then return 'changed' end
for _, key in ipairs(cjson.decode(ARGV[7])) do
	if redis.call('EXISTS', T .. key) == 1 then return 'taken' end
end
local open, most = 0, tonumber(ARGV[8])
for _, n in ipairs(most > 0 and living() or {}) do open = open + redis.call('HLEN', T .. ARGV[9] .. n) end
if most > 0 and open >= most then return 'full' end
for _, command in ipairs(cjson.decode(ARGV[10])) do
	command[2] = T .. command[2]
	redis.call(unpack(command))
end
return 'stored'
