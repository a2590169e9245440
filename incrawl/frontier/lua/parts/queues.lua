-- needs: records
-- URLs wait in a queue for each host and list. A queue's score is the due time less level/256 ms: so `discover`
-- sees in the queue alone that a URL is known, at that level or a higher one.
local QUEUE = { [0] = NS .. 'q0:', NS .. 'q1:', NS .. 'q2:' }
local function queue_key(list, host) return QUEUE[list] .. host end

local function score_of(due, level) return due - level / 256 end

local function due_of(score) return math.ceil(tonumber(score)) end

local function enqueue(id, host, record, due)
  call('ZADD', queue_key(list_of(record), host), score_of(due, level_of(record)), id)
end
