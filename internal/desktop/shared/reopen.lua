-- Takes back a release that was not stored.
--   ARGV  desk
return redis.call('HDEL', T .. 'd:' .. ARGV[4], 'shut')
