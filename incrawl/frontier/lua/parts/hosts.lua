-- A host may be visited by one request at a time, and is left in peace for its gap between two.
local function host_key(host) return TAG .. 'host:' .. host end

-- When a host may be visited again, whether somebody holds it until then, and its own gap (or the
-- default one). A holder that died may have sent its request at the last moment: the gap follows.
local function host_state(host, default_gap)
  local state = call('HMGET', host_key(host), 'next', 'until', 'gap')
  local free_at, gap = tonumber(state[1] or 0), tonumber(state[3] or default_gap)
  local held_until = state[2] and tonumber(state[2]) + gap or 0
  return math.max(free_at, held_until), held_until > free_at, gap
end

-- Unlocks a host if one of `tokens` (token → true) holds it, and keeps it closed for its gap after the
-- last response. Returns when it may be visited again, and its gap.
local function free_host(host, tokens, now, since, default_gap)
  local key = host_key(host)
  local state = call('HMGET', key, 'next', 'lock', 'gap')
  local next_time, gap = tonumber(state[1] or 0), tonumber(state[3] or default_gap)
  if gap > 0 and since >= 0 then
    next_time = math.max(next_time, now - since + gap)
    call('HSET', key, 'next', next_time)
  end
  if tokens[state[2]] then call('HDEL', key, 'lock', 'until') end
  return next_time, gap
end
