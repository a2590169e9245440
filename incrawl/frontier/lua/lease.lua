-- lease: gives due URLs to a worker. Due comes first, then whether the host may be visited, then
-- whose list's turn it is (4:2:1). With a gap above zero a lease locks its host.
-- ARGV: token (8 bytes), count, lease ms, default gap ms, continuous (1/0), alone (1: one suspect),
--       longest wait in ms that still counts as pending.
-- Returns {now, wait ms until a look is worth while (-1: nothing in sight), leased URLs in all, 1 if a
--          suspect may be had now, [for each lease: id, host id, packed record, score, suspect (1/0)]}. Asked again with the same token, it gives the same leases again.
-- needs: records, buckets, queues, hosts, ready, leases, expiry
local token, count, lease_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local default_gap, continuous, alone = tonumber(ARGV[4]), ARGV[5] == '1', ARGV[6] == '1'
local longest_wait = tonumber(ARGV[7])

local WHEEL = { 0, 1, 0, 2, 0, 1, 0 }
local TURNS = 1000 -- leases within a millisecond after which hosts may change places
local LOOKS = 100 -- hosts looked at in vain in one call
local SCAN = 1000 -- hosts looked at to tell whether any is due but held
local GIVEN = NS .. 'given:' .. token
local KEPT = 5 -- times a lease that an answer may be asked for again: a server may be away for long

local now = clock('rarely')
local meta = call('HMGET', META, 'horizon', 'wheel')
local limit = continuous and now or math.min(now, tonumber(meta[1] or now))
local turn = tonumber(meta[2] or 0)
local ids, leased, leases = {}, 0, {}
local looks = LOOKS

local function add(id, host, record, score, is_suspect)
  local at = leased * 5
  leased = leased + 1
  ids[leased] = id
  leases[at + 1], leases[at + 2], leases[at + 3] = id, host, record
  leases[at + 4], leases[at + 5] = score, is_suspect and 1 or 0
end

-- Gives out URLs of one host: `entries` are id, score, id, score, … Written down before they leave the queue.
local function grant(host, entries, gap, is_suspect)
  local alone_digit, expiry = is_suspect and '1' or '0', format('%.0f', now + lease_ms)
  local expiries, owners, size = {}, {}, 0
  for at = 1, #entries, 2 do
    local id, score = entries[at], entries[at + 1]
    local record = call('HGET', bucket_key(id), id)
    if record then
      expiries[size + 1], expiries[size + 2] = expiry, id
      owners[size + 1] = id
      owners[size + 2] = pack_owner(token, host, list_of(record), alone_digit, score)
      size = size + 2
      add(id, host, record, score, is_suspect)
    end
  end
  if size == 0 then return end
  call('ZADD', LEASES, unpack(expiries))
  call('HSET', OWNERS, unpack(owners))
  if gap > 0 then call('HSET', host_key(host), 'lock', token, 'until', expiry) end
end

-- Takes the first URLs off a host's queue, those that are due; how many. Afterwards the host stands
-- behind the others that are ready: breadth first, also where no gap is kept.
local function take(list, host, heads, gap)
  local size, before = #heads, leased
  while due_of(heads[size]) > limit do
    heads[size], heads[size - 1] = nil, nil
    size = size - 2
  end
  local taken = size / 2
  grant(host, heads, gap, false)
  -- Ids without a record, which a server has evicted against all advice, must not keep this call going.
  looks = looks - (taken - (leased - before))
  call('ZREMRANGEBYRANK', queue_key(list, host), 0, taken - 1)
  if gap > 0 then
    rescore(host, now + lease_ms, now)
  else
    rescore_list(list, host, now + (turn % TURNS + 1) / (TURNS + 1), now)
  end
  return taken
end

-- Looks at the first ready hosts of a list; how many URLs the first that may be visited gave.
local awaited = {}
local function lease_from(list, share)
  local ready = READY[list]
  while looks > 0 do
    local top = call('ZRANGE', ready, 0, 0, 'WITHSCORES')
    if not top[1] or tonumber(top[2]) >= now + 1 then return 0 end
    local host = top[1]
    local free_at, locked, gap = host_state(host, default_gap)
    local most = gap > 0 and 1 or share
    local heads = call('ZRANGE', queue_key(list, host), 0, most - 1, 'WITHSCORES')
    if not heads[1] then
      call('ZREM', ready, host)
    elseif free_at > now then
      call('ZADD', ready, look_again(free_at, locked, now), host)
    elseif gap > 0 and awaited[host] then
      call('ZADD', ready, now + RECHECK, host)
    elseif due_of(heads[2]) > limit then
      -- Due again since the run began: the next run's work, and in no one's way until then.
      call('ZADD', ready, math.max(due_of(heads[2]), now + RECHECK), host)
    else
      return take(list, host, heads, gap)
    end
    looks = looks - 1
  end
  return 0
end

-- How many URLs a host gives at once, 0 if no host is ready. Where several lists have work, one at a
-- time, so that they keep their turns.
local function share_of_hosts()
  local busy, ready_hosts = 0, 0
  for list = 0, LISTS - 1 do
    local hosts = call('ZCOUNT', READY[list], '-inf', '(' .. (now + 1))
    if hosts > 0 then
      busy = busy + 1
      ready_hosts = hosts
    end
  end
  return busy == 1 and math.ceil(count / ready_hosts) or math.min(busy, 1)
end

local function lease_next(share)
  local first = WHEEL[turn % #WHEEL + 1]
  for step = 0, LISTS - 1 do
    local given = lease_from((first + step) % LISTS, math.min(share, count - leased))
    if given > 0 then
      turn = turn + given
      return true
    end
  end
  return false
end

local function lease_suspect()
  local id, lease, gap = free_suspect(now, default_gap)
  if not id then return end
  call('ZREM', SUSPECTS, id)
  grant(lease.host, { id, lease.score }, gap, true)
  if gap > 0 then rescore(lease.host, now + lease_ms, now) end
end

local function give_again(given)
  for at = 1, #given, 12 do
    local id = sub(given, at, at + 11)
    local lease = held_lease(id, token)
    if lease then add(id, lease.host, call('HGET', bucket_key(id), id), lease.score, lease.alone) end
  end
end

-- Time until the first URL of this run may be had from a host that is held; -1 if there is none.
local function wait_for_held()
  local soonest = -1
  local function consider(host, due)
    local free_at, locked = host_state(host, default_gap)
    local wait = math.max(due, locked and math.min(free_at, now + RECHECK) or free_at) - now
    if wait <= longest_wait and (soonest < 0 or wait < soonest) then soonest = math.max(1, wait) end
  end
  for host, time in pairs(awaited) do consider(host, time) end
  for list = 0, LISTS - 1 do
    local hosts = up_to(READY[list], now + longest_wait, SCAN)
    for at = 1, #hosts, 2 do
      local host = hosts[at]
      if soonest >= 0 and tonumber(hosts[at + 1]) - now >= soonest then break end -- and none behind it
      local head = call('ZRANGE', queue_key(list, host), 0, 0, 'WITHSCORES')
      local due = head[1] and due_of(head[2])
      if due and (due <= limit or continuous) then consider(host, due) end
    end
  end
  return soonest
end

local given, swept = call('GET', GIVEN), 0
if not given then swept = sweep(now, lease_ms, default_gap) end
awaited = awaited_hosts(now)
if given then
  give_again(given)
elseif alone then
  lease_suspect()
else
  local share = share_of_hosts()
  while share > 0 and leased < count and lease_next(share) do end
end
if not given and leased > 0 then
  call('HSET', META, 'wheel', turn % (#WHEEL * TURNS))
  call('SET', GIVEN, table.concat(ids), 'PX', KEPT * lease_ms)
end
if swept + leased > 0 then clock() end

local wait = 0
if leased == 0 then wait = looks > 0 and wait_for_held() or 1 end
local suspect = free_suspect(now, default_gap) and 1 or 0
return answer({ now, wait, call('ZCARD', LEASES), suspect, leases })
