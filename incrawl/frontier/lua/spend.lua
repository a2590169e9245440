-- spend: takes requests out of the budget: so many may be sent within any window of time. They are counted
-- in a hundred slices of the window; a slice that the window covers in part counts in full.
-- ARGV: limit, window ms, wanted (0: just asking), stamp of an earlier request ('': none) that is moved to
--       now (wanted 1) or was never sent (wanted 0); behind a colon, a token of this call: repeated because
--       its answer was lost, it counts nothing again.
-- Returns {granted, their stamp, how many more may be sent now, ms until there are more if there are none}.
local SLICES = 100
local KEPT = 60000 -- ms
local limit, window, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local stamp, token = string.match(ARGV[4], '^(%d*):?(.*)$')
local DONE = NS .. 'done:' .. token
local done = token ~= '' and call('GET', DONE)
if done then return done end

local width = math.ceil(window / SLICES)
local now = clock()
local current = format('%.0f', now - now % width)
local key = NS .. 'budget'

local function add(slice, count)
  if call('HINCRBY', key, slice, count) <= 0 then call('HDEL', key, slice) end
end

if stamp ~= '' and call('HEXISTS', key, stamp) == 1 then add(stamp, -1) end

local slices, spent = {}, 0
local counts = call('HGETALL', key)
for at = 1, #counts, 2 do
  local leaves = tonumber(counts[at]) + width + window
  if leaves <= now then
    call('HDEL', key, counts[at])
  else
    local count = tonumber(counts[at + 1])
    slices[#slices + 1] = { leaves = leaves, count = count }
    spent = spent + count
  end
end

-- What is moved was granted before: it is counted now, whatever is left.
local granted = stamp ~= '' and wanted or math.min(wanted, math.max(0, limit - spent))
if granted > 0 then
  add(current, granted)
  call('PEXPIRE', key, window + 2 * width)
  spent = spent + granted
  slices[#slices + 1] = { leaves = tonumber(current) + width + window, count = granted }
end

local wait = 0
if spent >= limit then
  table.sort(slices, function(a, b) return a.leaves < b.leaves end)
  local left = spent
  for _, slice in ipairs(slices) do
    left = left - slice.count
    wait = slice.leaves - now
    if left < limit then break end
  end
end
local told = answer({ granted, current, math.max(0, limit - spent), wait })
if token ~= '' and (granted > 0 or stamp ~= '') then
  call('SET', DONE, told, 'PX', KEPT)
end
return told
