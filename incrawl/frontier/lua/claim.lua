-- claim: one worker at a time does a batch job; a claim runs out by itself.
-- ARGV: name, token, ms that it holds from now (0: given back).
-- Returns 1, or 0 when somebody else has it.
local key, token, span = NS .. 'claim:' .. ARGV[1], ARGV[2], tonumber(ARGV[3])
local holder = call('GET', key)
if holder and holder ~= token then return 0 end
if span > 0 then
  call('SET', key, token, 'PX', span)
else
  call('DEL', key)
end
return 1
