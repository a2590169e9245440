-- needs: records, queues
-- Which hosts have work, and when. A host stands in a ready set while it has URLs of that list, at
-- max(may be visited, earliest due). One that is ready already keeps its place in the line: breadth first.
local LONGEST_REST = 30000 -- ms after which a closed host is looked at again: others may have opened it

local READY = { [0] = NS .. 'ready0', NS .. 'ready1', NS .. 'ready2' }

local function rescore_list(list, host, free_at, now)
  local ready = READY[list]
  local head = call('ZRANGE', queue_key(list, host), 0, 0, 'WITHSCORES')
  if not head[1] then
    call('ZREM', ready, host)
    return
  end
  local score = math.max(math.min(free_at, now + LONGEST_REST), due_of(head[2]))
  local place = tonumber(call('ZSCORE', ready, host) or 0)
  if place < now + 1 then score = math.max(score, place) end
  call('ZADD', ready, score, host)
end

local function rescore(host, free_at, now)
  for list = 0, LISTS - 1 do rescore_list(list, host, free_at, now) end
end
