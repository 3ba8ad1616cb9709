-- Returns the first characters of tokens that live, or died in the last hour, the latest first.
--   ARGV  how many at most
return redis.call('ZREVRANGEBYSCORE', T .. 'tpl', '+inf', us(now), 'LIMIT', 0, ARGV[4])
