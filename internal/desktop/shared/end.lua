-- Ends a session by hand, and revokes its token.
--   ARGV  desk, session
--   answer  1, 0 if there is none
local d = workstation(ARGV[4])
local s = d.sessions[ARGV[5]]
if not s then return 0 end
expel(ARGV[4], ARGV[5], s, 'ended')
if redis.call('EXISTS', T .. 't:' .. s.t) == 1 then redis.call('HSET', T .. 't:' .. s.t, 'w', 'revoked') end
return 1
