-- complete: the one writer of outcomes. A page's record, its next due time, its lease and its host's
-- lock change together, or, when the token is no longer the lease's, not at all.
-- ARGV: default gap ms, and in msgpack for each page: id, token, packed record, delay ms until due again
--       (-1: never), ms since the last response ended (-1: no request was sent).
-- Returns for each page 1, or 0 when refused.
-- needs: records, buckets, queues, hosts, ready, leases
local default_gap = tonumber(ARGV[1])
local now = clock()
local pages = cmsgpack.unpack(ARGV[2])
local PAGE = 5

local ids, count = {}, 0
for at = 1, #pages, PAGE do
  count = count + 1
  ids[count] = pages[at]
end
local owners = call('HMGET', OWNERS, unpack(ids))
local raised = call('EXISTS', RAISED) == 1

-- What is written once for all pages of a host, after the pages themselves.
local hosts = {} -- host → {tokens, since, queued: list → {score, id, …, size = entries in it}}
local ended, ends = {}, 0

local function visited(id, token, since)
  local host = hosts[id] or { tokens = {}, since = -1, queued = {} }
  hosts[id] = host
  host.tokens[token] = true
  if since >= 0 and (host.since < 0 or since < host.since) then host.since = since end
  return host
end

local function complete(id, owner, token, record, delay, since)
  local due = now + delay
  local level = raised and tonumber(call('HGET', RAISED, id) or 0) or 0
  if level > level_of(record) then
    -- Found closer to a seed while this visit was under way: its links have to be followed further.
    record = string.char(level) .. sub(record, 2)
    due = math.min(now, tonumber(call('HGET', META, 'horizon') or now))
    delay = 0
  end
  call('HSET', bucket_key(id), id, record)
  local host = visited(host_of(owner), token, since)
  if delay >= 0 then
    local list = list_of(record)
    local entries = host.queued[list] or { size = 0 }
    local size = entries.size
    host.queued[list], entries.size = entries, size + 2
    entries[size + 1], entries[size + 2] = score_of(due, level_of(record)), id
  end
  ends = ends + 1
  ended[ends] = id
end

local replies = {}
for page, id in ipairs(ids) do
  local at = (page - 1) * PAGE + 1
  local owner = owners[page]
  local token, record, delay, since = unpack(pages, at + 1, at + 4)
  local ours = owner and token_of(owner) == token
  if ours then complete(id, owner, token, record, delay, since) end
  replies[page] = ours and 1 or 0
end
if ends > 0 then
  call('ZREM', LEASES, unpack(ended))
  call('HDEL', OWNERS, unpack(ended))
  if raised then call('HDEL', RAISED, unpack(ended)) end
  if call('EXISTS', DEATHS) == 1 then call('HDEL', DEATHS, unpack(ended)) end
end
for host, visits in pairs(hosts) do
  for list, entries in pairs(visits.queued) do call('ZADD', queue_key(list, host), unpack(entries)) end
  local free_at, gap = free_host(host, visits.tokens, now, visits.since, default_gap)
  for list = 0, LISTS - 1 do
    if gap > 0 or visits.queued[list] then rescore_list(list, host, free_at, now) end
  end
end
return answer(replies)
