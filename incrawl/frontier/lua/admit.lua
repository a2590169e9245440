-- admit: gives places in a collection of bounded size.
-- ARGV: places wanted (below 0: given back), size (-1: as many as are wanted).
-- Returns how many were given.
local key, wanted, size = NS .. 'places', tonumber(ARGV[1]), tonumber(ARGV[2])
local taken = tonumber(redis.call('GET', key) or 0)
local given = wanted
if size >= 0 then given = math.min(wanted, math.max(0, size - taken)) end
if given ~= 0 then redis.call('SET', key, math.max(0, taken + given)) end
return given
