-- Stands in front of every verb: names of keys, the clock, the answer.
-- All times are milliseconds of the server's clock; all keys share the partition's hash tag.

-- Scripts use these for every URL, and making texts of numbers takes Lua long: it is done once in a call.
local call, format, sub, byte, read_number = redis.call, string.format, string.sub, string.byte, struct.unpack

local TAG, NS = KEYS[1], KEYS[2] -- "{i07}" for what namespaces share, "{i07}project/spider:" for the rest

local CLOCK = TAG .. 'clock'
local WOKE = TAG .. 'woke'
local META = NS .. 'meta'

local SILENCE = 5000 -- ms without any call after which workers get time to renew their leases
local OFTEN_ENOUGH = 1000 -- ms between two notes of the time where nothing else is written
local CATCHING_UP = 0.9 -- speed of a clock that is ahead of the server's

-- An answer of several values is one text: for an array the server would set 16 KB aside.
local answer = cmsgpack.pack

-- The time, the server's own time, and the time of the call before. When the server's clock is set
-- back, the partition's goes on from where it was, a little slower until it is overtaken: no lease
-- ends early, no gap shrinks, nothing stands still.
local function read_clock()
  local time = call('TIME')
  local server = time[1] * 1000 + math.floor(time[2] / 1000)
  local ours, theirs = string.match(call('GET', CLOCK) or '0', '^([%d.]+):?(%d*)')
  local last = tonumber(ours)
  local passed = math.max(0, server - (tonumber(theirs) or server))
  return math.max(server, last + CATCHING_UP * passed), server, last
end

-- The time, which a call that writes also notes; `rarely`: not more often than needed to see silences.
local function clock(rarely)
  local now, server, last = read_clock()
  if rarely and now - last < OFTEN_ENOUGH then return math.floor(now) end
  if now > server then
    call('SET', CLOCK, format('%.1f:%.0f', now, server))
  elseif now > last then
    call('SET', CLOCK, format('%.0f', now))
  end
  -- The server was away, or its clock has leapt: nobody could renew a lease meanwhile.
  if now - last > SILENCE then call('SET', WOKE, format('%.0f:%.0f', now, last)) end
  return math.floor(now)
end
