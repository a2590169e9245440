-- discover: makes URLs known. A known one is left alone, unless it is now closer to a seed:
-- then its level rises, and it becomes due, so that its links are followed further.
-- ARGV: continuous (1: due now; 0: due within the current run), then for each host:
--       host id, host name, number of URLs, and for each URL: id, packed record.
-- Returns {new, raised}.
local now = clock()
local base = now
if ARGV[1] == '0' then base = tonumber(redis.call('HGET', META, 'horizon') or now) end
local new, raised = 0, 0

local function requeue_raised(id, host, known, level)
  redis.call('HSET', bucket_key(id), id, string.char(level) .. string.sub(known, 2))
  local list = list_of(known)
  -- A leased page is requeued by its `complete`, which sees the greater level.
  if redis.call('ZSCORE', queue_key(list, host), id) then
    redis.call('ZADD', queue_key(list, host), 'LT', base - level, id)
  end
  raised = raised + 1
  return list
end

local at = 2
while at <= #ARGV do
  local host, name, count = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  at = at + 3
  local touched = {}
  for _ = 1, count do
    local id, record = ARGV[at], ARGV[at + 1]
    at = at + 2
    local bucket = bucket_key(id)
    if redis.call('HSETNX', bucket, id, record) == 1 then
      enqueue(id, host, list_of(record), base - level_of(record))
      touched[list_of(record)] = true
      new = new + 1
    else
      local known = redis.call('HGET', bucket, id)
      if level_of(known) < level_of(record) then
        touched[requeue_raised(id, host, known, level_of(record))] = true
      end
    end
  end
  if next(touched) then
    redis.call('HSETNX', host_key(host), 'name', name)
    local free_at = host_state(host, 0)
    for list in pairs(touched) do rescore_list(list, host, free_at, now) end
  end
end

count_new(new)
return { new, raised }
