-- Finds a session, and notes when it was used.
--   ARGV  hash, idle, longest, how long ago it was used (below 0: it was not), the share of the idle
--         time after which that is written
--   answer  JSON, started, used; nothing without one
return find(ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])) or {}
