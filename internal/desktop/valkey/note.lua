-- Stores what this node notes, and returns its sessions.
--   ARGV  the key of the note, the note, the key of the sessions
local lost = lease()
if lost then return lost end
redis.call('SET', T .. ARGV[4], ARGV[5], 'EX', 86400)
return redis.call('HGETALL', T .. ARGV[6])
