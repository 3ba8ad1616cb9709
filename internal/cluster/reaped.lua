-- Removes a dead node: nothing that it held is left.
--
--   T dead   sorted set: ID whose lease has ended -> when it may be given to a node to reap, again
--   T tried  hash: ID of such a node -> name of the node that it was given to last
--
--   ARGV  ID
redis.call('HDEL', T .. 'tried', ARGV[4])
return redis.call('ZREM', T .. 'dead', ARGV[4])
