-- needs: hosts, ready, leases
-- What becomes of pages whose worker let their lease expire. They are suspects, given out alone; those that
-- workers die of while alone with them are quarantined.

local SWEEP = 50 -- expired leases taken back in one call
local RECHECK = 1000 -- ms after which a locked or passed-over host is looked at again
local AWAITED = 50 -- suspects whose hosts are kept for them
local DEATHS_TO_QUARANTINE = 3

-- Members of a sorted set up to a score, each followed by its own; not more than `most`. They are read by their
-- places, because for a range by scores the server sets 16 KB aside, even where there is nothing in it.
local function up_to(set, score, most)
  local count = math.min(most, call('ZCOUNT', set, '-inf', score))
  return count > 0 and call('ZRANGE', set, 0, count - 1, 'WITHSCORES') or {}
end

-- A worker that let its lease expire may have been killed by the page. Only a death while the page
-- was alone with its worker counts against it.
local function take_back(id, now, default_gap)
  local lease = unpack_owner(call('HGET', OWNERS, id))
  if not lease then return drop_lease(id) end
  rescore(lease.host, (free_host(lease.host, { [lease.token] = true }, now, 0, default_gap)), now)
  if lease.alone and call('HINCRBY', DEATHS, id, 1) >= DEATHS_TO_QUARANTINE then
    drop_lease(id)
    call('HSET', QUARANTINE, id, lease.host .. lease.list .. lease.score)
  else
    make_suspect(id, lease, now)
  end
end

-- Takes expired leases back; how many. While the server was away no lease could be renewed, and when its
-- clock leaps nobody knows: workers, who renew every third of a lease, get half of one to do so. What had
-- expired before has had its time: else nothing would be taken back where calls are few.
local function sweep(now, lease_ms, default_gap)
  local woke, before = string.match(call('GET', WOKE) or '0:0', '^(%d+):?(%d*)')
  local is_awake = now - tonumber(woke) >= lease_ms / 2
  local ended = is_awake and now or tonumber(before) or 0
  local expired = up_to(LEASES, ended, SWEEP)
  for at = 1, #expired, 2 do take_back(expired[at], now, default_gap) end
  return #expired / 2
end

local function look_again(free_at, locked, now)
  return math.min(free_at, now + (locked and RECHECK or LONGEST_REST))
end

-- Hosts that suspects wait for (host → from when one may be had). Where a gap is kept, their other pages would
-- take every turn.
local function awaited_hosts(now)
  local awaited, ids, times = {}, {}, {}
  local suspects = up_to(SUSPECTS, now + LONGEST_REST, AWAITED)
  for at = 1, #suspects, 2 do
    ids[#ids + 1], times[#times + 1] = suspects[at], tonumber(suspects[at + 1])
  end
  if #ids == 0 then return awaited end
  for at, owner in ipairs(call('HMGET', OWNERS, unpack(ids))) do
    local host = owner and host_of(owner)
    if host then awaited[host] = math.min(awaited[host] or times[at], times[at]) end
  end
  return awaited
end

-- The first suspect whose host may be visited, what is known of it, and its host's gap; the others are put off.
local function free_suspect(now, default_gap)
  local suspects = up_to(SUSPECTS, now, 10)
  for at = 1, #suspects, 2 do
    local id = suspects[at]
    local lease = unpack_owner(call('HGET', OWNERS, id))
    if lease then
      local free_at, locked, gap = host_state(lease.host, default_gap)
      if free_at <= now then return id, lease, gap end
      call('ZADD', SUSPECTS, look_again(free_at, locked, now), id)
    else
      call('ZREM', SUSPECTS, id)
    end
  end
end
