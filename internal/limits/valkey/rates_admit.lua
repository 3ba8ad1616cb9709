-- Counts a call against its rates, or against none of them, and takes places for it.
--
--   ARGV  4 n: what the call counts in each window; 5 rates: how many follow
--         name, seconds, limit         of each rate
--         subject, limit, number, has, gives, want, queued    of each statement of places
--   answer  1 if it was counted, 0 if it was refused; microseconds since 1970; each window, as say
--           appends it: before it was counted and without its slots, if it was; five numbers for each
--           statement (see state)
-- A call that is refused states nothing.
local n, rates = tonumber(ARGV[4]), tonumber(ARGV[5])
local at = 6 + rates * 3
if ARGV[at] then
	local lost = lease()
	if lost then
		return lost
	end
end
local windows, answer = {}, {1, now}
for i = 1, rates do
	windows[i] = open(ARGV[i * 3 + 3], tonumber(ARGV[i * 3 + 4]))
	if windows[i].total + n > tonumber(ARGV[i * 3 + 5]) then
		answer[1] = 0
	end
end
for i, w in ipairs(windows) do
	if answer[1] == 0 or n == 0 then
		say(answer, ARGV[i * 3 + 3])
	else
		count(w, n)
		answer[#answer + 1], answer[#answer + 2], answer[#answer + 3] = w.head, w.total, 0
	end
end
while answer[1] == 1 and ARGV[at] do
	local said = state(ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], tonumber(ARGV[at + 3]), ARGV[at + 4] == '1',
		tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6]))
	for i = 1, 5 do
		answer[#answer + 1] = said[i]
	end
	at = at + 7
end
return answer
