-- Ends sessions.
--   ARGV  hashes
for i = 4, #ARGV do drop(ARGV[i]) end
return 1
