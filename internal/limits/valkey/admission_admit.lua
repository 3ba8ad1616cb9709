-- Counts a call against its rates, or against none of them, and takes places for it.
--
--   ARGV  4 n: what the call counts in each window; 5 rates: how many follow
--         name, seconds, limit         of each rate
--         subject, limit, number, has, gives, want, queued    of each statement of places
--   answer  if it was counted: 0, index of the rate with the least remaining (0: none), what remains
--           of it, microseconds until nothing counts in it; the newest slot of each rate; five
--           numbers for each statement (see state)
--           if it was refused: index of the rate with the longest wait, that wait in microseconds
--           (-1: it never fits), what remains of it, microseconds until nothing counts in it
-- A call that is refused states nothing.
local n, rates = tonumber(ARGV[4]), tonumber(ARGV[5])
local at = 6 + rates * 3
if ARGV[at] then
	local lost = lease()
	if lost then
		return lost
	end
end
local windows = {}
local tightest, least, over, longest = 0, 0, 0, 0
for i = 1, rates do
	local limit = tonumber(ARGV[i * 3 + 5])
	local w = open(ARGV[i * 3 + 3], tonumber(ARGV[i * 3 + 4]))
	w.limit = limit
	windows[i] = w
	local rest = math.max(limit - w.total, 0)
	if tightest == 0 or rest < least then
		tightest, least = i, rest
	end
	local d = wait(w, n, limit)
	if d ~= 0 and (over == 0 or longest ~= -1 and (d == -1 or d > longest)) then
		over, longest = i, d
	end
end
if over > 0 then
	local w = windows[over]
	return {over, longest, math.max(w.limit - w.total, 0), reset(w)}
end
local answer = {0, tightest, math.max(least - n, 0), 0}
for i, w in ipairs(windows) do
	if n > 0 then
		count(w, n)
	end
	answer[#answer + 1] = w.head
end
if tightest > 0 then
	local w = windows[tightest]
	answer[4] = n > 0 and ends(w, w.head) or reset(w)
end
while ARGV[at] do
	local said = state(ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], tonumber(ARGV[at + 3]), ARGV[at + 4] == '1',
		tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6]))
	for i = 1, 5 do
		answer[#answer + 1] = said[i]
	end
	at = at + 7
end
return answer
