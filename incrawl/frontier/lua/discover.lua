-- discover: makes URLs known. A known one is left alone, unless it is now closer to a seed:
-- then its level rises, and unless it rests it becomes due, so that its links are followed further.
-- ARGV: continuous (1: due now; 0: due within the current run), and in msgpack, which costs both sides
--       less than words: for each host its id, its name, and of its URLs [id, packed record, …].
-- Returns {new, raised}.
-- needs: records, buckets, growth, queues, hosts, ready, raising
local now = clock('rarely')
local base = now
if ARGV[1] == '0' then base = tonumber(call('HGET', META, 'horizon') or now) end
local finds = cmsgpack.unpack(ARGV[2])
local new, raised = 0, 0

-- What a known URL waits with tells the level that it is known at, or more.
local function least_level(score)
  local number = tonumber(score)
  return (math.ceil(number) - number) * 256
end

-- Lists that have any URLs.
local lists = {}
for list = 0, LISTS - 1 do
  if call('EXISTS', READY[list]) == 1 then lists[#lists + 1] = list end
end

-- For each URL of a host the score that it waits with; false if it does not wait.
local function queued_scores(host, urls)
  local ids, count, found = {}, 0, {}
  for at = 1, #urls, 2 do
    count = count + 1
    ids[count] = urls[at]
  end
  for _, list in ipairs(lists) do
    local scores = call('ZMSCORE', queue_key(list, host), unpack(ids))
    for at = 1, count do found[at] = found[at] or scores[at] end
  end
  return found
end

-- Makes the URLs of a host known; lists in which its first one may be another one now (list → true).
local function discover(host, urls)
  local touched, queued = {}, {} -- list → whether; list → {score, id, …, size = entries in it}
  local scores = queued_scores(host, urls)
  for at = 1, #urls, 2 do
    local id, record, score = urls[at], urls[at + 1], scores[(at + 1) / 2]
    local level = level_of(record)
    if score and least_level(score) >= level then
      -- Known, and waiting: what most links are.
    elseif call('HSETNX', bucket_key(id), id, record) == 1 then
      local list = list_of(record)
      local entries = queued[list] or { size = 0 }
      local size = entries.size
      queued[list], touched[list], entries.size = entries, true, size + 2
      entries[size + 1], entries[size + 2] = score_of(base - level, level), id
      new = new + 1
    else
      local known = call('HGET', bucket_key(id), id)
      if level_of(known) < level then
        raise(id, host, known, level, base - level)
        raised = raised + 1
        touched[list_of(known)] = true
      end
    end
  end
  for list, entries in pairs(queued) do call('ZADD', queue_key(list, host), unpack(entries)) end
  return touched
end

for at = 1, #finds, 3 do
  local host = finds[at]
  local touched = discover(host, finds[at + 2])
  if next(touched) then
    call('HSETNX', host_key(host), 'name', finds[at + 1])
    local free_at = host_state(host, 0)
    for list in pairs(touched) do rescore_list(list, host, free_at, now) end
  end
end

if new + raised > 0 then clock() end
count_new(new)
return answer({ new, raised })
