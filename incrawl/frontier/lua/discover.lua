-- discover: makes URLs known. A known one is left alone, unless it is now closer to a seed:
-- then its level rises, and it becomes due, so that its links are followed further.
-- ARGV: continuous (1: due now; 0: due within the current run), and in msgpack, which costs both sides
--       less than words: for each host its id, its name, and of its URLs [id, packed record, …].
-- Returns {new, raised}.
local now = clock()
local base = now
if ARGV[1] == '0' then base = tonumber(redis.call('HGET', META, 'horizon') or now) end
local finds = cmsgpack.unpack(ARGV[2])
local new, raised = 0, 0

-- What is known of a URL; nil if it was not, and now is. Links come in runs of new or of known ones,
-- so that mostly one look is enough.
local mostly_new = true
local function known_or_added(id, record)
  local bucket = bucket_key(id)
  if mostly_new and redis.call('HSETNX', bucket, id, record) == 1 then return nil end
  local known = redis.call('HGET', bucket, id)
  mostly_new = not known
  if not known then redis.call('HSET', bucket, id, record) end
  return known or nil
end

local function raise(id, host, known, level)
  redis.call('HSET', bucket_key(id), id, string.char(level) .. string.sub(known, 2))
  local queue = queue_key(list_of(known), host)
  if redis.call('ZSCORE', queue, id) then
    redis.call('ZADD', queue, 'LT', base - level, id)
  elseif redis.call('HEXISTS', OWNERS, id) == 1 then
    -- A leased page is requeued by its `complete`, which is told of the greater level here.
    redis.call('HSET', RAISED, id, level)
  end
  raised = raised + 1
end

-- Lists in which the host's first URL may be another one now.
local function discover(host, urls)
  local touched, queued = {}, {} -- list → whether; list → {due, id, …}
  for at = 1, #urls, 2 do
    local id, record = urls[at], urls[at + 1]
    local known = known_or_added(id, record)
    if not known then
      local list = list_of(record)
      local entries = queued[list] or {}
      queued[list], touched[list] = entries, true
      entries[#entries + 1] = base - level_of(record)
      entries[#entries + 1] = id
      new = new + 1
    elseif level_of(known) < level_of(record) then
      raise(id, host, known, level_of(record))
      touched[list_of(known)] = true
    end
  end
  for list, entries in pairs(queued) do redis.call('ZADD', queue_key(list, host), unpack(entries)) end
  return touched
end

for at = 1, #finds, 3 do
  local host = finds[at]
  local touched = discover(host, finds[at + 2])
  if next(touched) then
    redis.call('HSETNX', host_key(host), 'name', finds[at + 1])
    local free_at = host_state(host, 0)
    for list in pairs(touched) do rescore_list(list, host, free_at, now) end
  end
end

count_new(new)
return { new, raised }
