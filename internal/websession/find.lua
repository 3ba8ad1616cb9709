-- Finds a session, and notes that it is used.
--   ARGV  hash, idle, longest, the share of the idle time after which that is written
--   answer  JSON, started, used; nothing without one
return find(ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])) or {}
