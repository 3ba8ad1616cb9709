-- Removes a dead node: nothing that it held is left.
--
--   T dead   sorted set: ID whose lease has ended -> when it may be given to a node to reap, again
--
--   ARGV  ID
return redis.call('ZREM', T .. 'dead', ARGV[4])
