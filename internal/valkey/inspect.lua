-- Answers what the server says of itself, and proves that a script may ask for it. Any error of TIME
-- or INFO is the answer of the script.
--
--   KEYS  a key of the shard that is asked
redis.call('TIME')
return redis.call('INFO', 'server') .. redis.call('INFO', 'replication') .. redis.call('INFO', 'memory') ..
	redis.call('INFO', 'persistence') .. redis.call('INFO', 'cluster')
