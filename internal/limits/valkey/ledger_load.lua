-- load brings accounts up to what the book says, after the engine has lost everything. Each node loads
-- when its own rows are in the book, behind the fence: so the last one brings in all of them.
--
--   ARGV  for each account: account, begins, ends ("" never), spent
for i = 4, #ARGV, 4 do
	local a, spent = touch(ARGV[i]), tonumber(ARGV[i + 3])
	if a.p == tonumber(ARGV[i + 1]) then spent = math.max(spent - a.s, 0) end
	add(ARGV[i], ARGV[i + 1], ARGV[i + 2], spent, 0)
end
write()
return 'OK'
