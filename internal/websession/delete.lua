-- Ends a session.
--   ARGV  hash
--   answer  1 if there was one
return drop(ARGV[4]) and 1 or 0
