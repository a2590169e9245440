-- admit: gives places in a collection of bounded size. They are asked for by name, and who was given some
-- lately has them: a call whose answer was lost may be repeated, and a URL that two workers find takes one.
-- ARGV: size (-1: as many as are wanted), places for each name, names.
-- Returns for each name 1, or 0 when there was no place left.
local KEPT = 60000 -- ms
local key, size, each = NS .. 'places', tonumber(ARGV[1]), tonumber(ARGV[2])
local before = tonumber(call('GET', key) or 0)
local taken = before
local replies = {}
for at = 3, #ARGV do
  local placed = NS .. 'placed:' .. ARGV[at]
  local has_place = call('EXISTS', placed) == 1
  if not has_place and (size < 0 or taken + each <= size) then
    call('SET', placed, '', 'PX', KEPT)
    taken, has_place = taken + each, true
  end
  replies[#replies + 1] = has_place and 1 or 0
end
if taken ~= before then call('SET', key, taken) end
return answer(replies)
