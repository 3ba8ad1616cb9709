-- Replaces what is known of a session that lives.
--   ARGV  hash, JSON
if redis.call('EXISTS', T .. 'w:' .. ARGV[4]) == 1 then redis.call('HSET', T .. 'w:' .. ARGV[4], 'j', ARGV[5]) end
return 1
