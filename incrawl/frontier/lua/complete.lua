-- complete: the one writer of outcomes. A page's record, its next due time, its lease and its host's
-- lock change together, or, when the token is no longer the lease's, not at all.
-- ARGV: default gap ms, then for each page: id, token, packed record, delay ms until due again
--       (-1: never), ms since the last response ended (-1: no request was sent).
-- Returns for each page 1, or 0 when refused.
local PAGE = 5
local default_gap = tonumber(ARGV[1])
local now = clock()

local ids = {}
for at = 2, #ARGV, PAGE do ids[#ids + 1] = ARGV[at] end
local owners = redis.call('HMGET', OWNERS, unpack(ids))

-- What is written once for all pages of a host, after the pages themselves.
local queued = {} -- queue key → {due, id, …}
local hosts = {} -- host → {free_at, list → whether its place in that ready set has to be worked out}
local ended = {}

local function close_visit(lease, since, list)
  local host = hosts[lease.host] or { free_at = 0 }
  local free_at, gap = free_host(lease.host, lease.token, now, since, default_gap)
  host.free_at = math.max(host.free_at, free_at)
  for each = 0, LISTS - 1 do host[each] = host[each] or gap > 0 or each == list end
  hosts[lease.host] = host
end

local function complete(id, lease, record, delay, since)
  local due = now + delay
  local bucket = bucket_key(id)
  local known = redis.call('HGET', bucket, id)
  if known and level_of(known) > level_of(record) then
    -- Found closer to a seed while this visit was under way: its links have to be followed further.
    record = string.sub(known, 1, 1) .. string.sub(record, 2)
    due = math.min(now, tonumber(redis.call('HGET', META, 'horizon') or now))
    delay = 0
  end
  redis.call('HSET', bucket, id, record)
  if delay >= 0 then
    local key = queue_key(list_of(record), lease.host)
    queued[key] = queued[key] or {}
    table.insert(queued[key], due)
    table.insert(queued[key], id)
  end
  close_visit(lease, since, delay >= 0 and list_of(record))
  ended[#ended + 1] = id
end

local replies = {}
for page, id in ipairs(ids) do
  local at = 2 + (page - 1) * PAGE
  local lease = owners[page] and unpack_owner(owners[page])
  local ours = lease and lease.token == ARGV[at + 1]
  if ours then complete(id, lease, ARGV[at + 2], tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])) end
  replies[page] = ours and 1 or 0
end
for key, entries in pairs(queued) do redis.call('ZADD', key, unpack(entries)) end
if #ended > 0 then
  redis.call('ZREM', LEASES, unpack(ended))
  redis.call('HDEL', OWNERS, unpack(ended))
  redis.call('HDEL', DEATHS, unpack(ended))
end
for host, state in pairs(hosts) do
  for list = 0, LISTS - 1 do
    if state[list] then rescore_list(list, host, state.free_at, now) end
  end
end
return replies
