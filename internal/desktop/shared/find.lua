-- Returns what a viewer's token is.
--   ARGV  hash or "", prefix, rule, greatest number of sessions, client
--   answer  JSON: token, code (why it is dead), look (what join would say)
local hash = ARGV[4]
if hash == '' then hash = redis.call('GET', T .. 'tp:' .. ARGV[5]) end
if not hash then return cjson.encode({code = 'unknown'}) end
local t, d = find(hash)
if not t then return cjson.encode({code = 'unknown'}) end
local why = dead(t, d)
if why then return cjson.encode({code = why}) end
local shared = ARGV[6] == 'share' or has(t, 's')
local _, look = conflicts(t, d, ARGV[6], shared, ARGV[8], tonumber(ARGV[7]), true)
return cjson.encode({code = '', look = look or '', token = view(t)})
