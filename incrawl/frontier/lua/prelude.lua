-- Put in front of every verb by scripts.py: names of keys, the clock, records, hosts, leases.
-- All times are milliseconds of the server's clock; all keys share the partition's hash tag.

-- Scripts use these for every URL, and making texts of numbers takes Lua long: it is done once in a call.
local call, format, sub, byte, read_number = redis.call, string.format, string.sub, string.byte, struct.unpack

local TAG, NS = KEYS[1], KEYS[2] -- "{i07}" for what namespaces share, "{i07}project/spider:" for the rest

local CLOCK = TAG .. 'clock'
local WOKE = TAG .. 'woke'
local META = NS .. 'meta'
local LEASES = NS .. 'leases'
local OWNERS = NS .. 'owners'
local SUSPECTS = NS .. 'suspects'
local DEATHS = NS .. 'deaths'
local QUARANTINE = NS .. 'quarantine'
local RAISED = NS .. 'raised'

local LISTS = 3
local RECORDS_PER_BUCKET = 16
local AT_ONCE = 1000 -- records moved in one command, should somebody choose URLs that share a bucket
local SILENCE = 5000 -- ms without any call after which workers get time to renew their leases
local OFTEN_ENOUGH = 1000 -- ms between two notes of the time where nothing else is written
local CATCHING_UP = 0.9 -- speed of a clock that is ahead of the server's
local LONGEST_REST = 30000 -- ms after which a closed host is looked at again: others may have opened it

local DIGIT = { [0] = '0', '1', '2' } -- of each list
local QUEUE = { [0] = NS .. 'q0:', NS .. 'q1:', NS .. 'q2:' }
local READY = { [0] = NS .. 'ready0', NS .. 'ready1', NS .. 'ready2' }
local function queue_key(list, host) return QUEUE[list] .. host end
local function ready_key(list) return READY[list] end
local function host_key(host) return TAG .. 'host:' .. host end

-- The time, the server's own time, and the time of the call before. When the server's clock is set
-- back, the partition's goes on from where it was, a little slower until it is overtaken: no lease
-- ends early, no gap shrinks, nothing stands still.
local function read_clock()
  local time = call('TIME')
  local server = time[1] * 1000 + math.floor(time[2] / 1000)
  local ours, theirs = string.match(call('GET', CLOCK) or '0', '^([%d.]+):?(%d*)')
  local last = tonumber(ours)
  local passed = math.max(0, server - (tonumber(theirs) or server))
  return math.max(server, last + CATCHING_UP * passed), server, last
end

-- The time, which a call that writes also notes; `rarely`: not more often than needed to see silences.
local function clock(rarely)
  local now, server, last = read_clock()
  if rarely and now - last < OFTEN_ENOUGH then return math.floor(now) end
  if now > server then
    call('SET', CLOCK, format('%.1f:%.0f', now, server))
  elseif now > last then
    call('SET', CLOCK, format('%.0f', now))
  end
  -- The server was away, or its clock has leapt: nobody could renew a lease meanwhile.
  if now - last > SILENCE then call('SET', WOKE, format('%.0f:%.0f', now, last)) end
  return math.floor(now)
end

-- Records lie in small hashes, which the server packs tightly. Their number grows one by one
-- (linear hashing), so that a bucket holds about as many records at a thousand URLs as at a billion.
local buckets = tonumber(call('HGET', META, 'buckets') or 1)

local function power_below(count)
  local power = 1
  while power * 2 <= count do power = power * 2 end
  return power
end

local low = power_below(buckets)

local BUCKET = NS .. 'r:'
local function bucket_key(id)
  local hash = read_number('>I4', id)
  local bucket = hash % (low * 2)
  if bucket >= buckets then bucket = hash % low end
  return BUCKET .. format('%d', bucket) -- twice as fast as what Lua makes of a number by itself
end

-- Splits the next bucket in turn: about half of its records move to the new last one.
local function split()
  local source, target = BUCKET .. (buckets - low), BUCKET .. buckets
  local entries = call('HGETALL', source)
  local moved, ids = {}, {}
  for i = 1, #entries, 2 do
    if read_number('>I4', entries[i]) % (low * 2) == buckets then
      ids[#ids + 1] = entries[i]
      moved[#moved + 1] = entries[i]
      moved[#moved + 1] = entries[i + 1]
    end
  end
  for first = 1, #ids, AT_ONCE do
    local last = math.min(first + AT_ONCE - 1, #ids)
    call('HSET', target, unpack(moved, 2 * first - 1, 2 * last))
    call('HDEL', source, unpack(ids, first, last))
  end
  buckets = buckets + 1
  call('HSET', META, 'buckets', buckets)
  if buckets == low * 2 then low = buckets end
end

-- Counts URLs that were added, and makes room for more: where buckets were larger once, little by little.
local function count_new(new)
  if new == 0 then return end
  local urls = call('HINCRBY', META, 'urls', new)
  local wanted = math.min(math.ceil(urls / RECORDS_PER_BUCKET), buckets + new)
  while buckets < wanted do split() end
end

-- A record starts with two bytes that scripts read: level, list. The rest is the workers' business.
local function level_of(record) return byte(record, 1) or 0 end
local function list_of(record) return (byte(record, 2) or 0) % LISTS end

-- A queue's score is the due time less level/256 ms: so `discover` sees in the queue alone that a URL is known,
-- at that level or a higher one.
local function score_of(due, level) return due - level / 256 end

local function due_of(score) return math.ceil(tonumber(score)) end

local function least_level(score)
  local number = tonumber(score)
  return (math.ceil(number) - number) * 256
end

-- Members of a sorted set up to a score, each followed by its own; not more than `most`. They are read by their
-- places, because a range by scores makes the server allocate 16 KB for it, even where there is nothing in it.
local function up_to(set, score, most)
  local count = math.min(most, call('ZCOUNT', set, '-inf', score))
  return count > 0 and call('ZRANGE', set, 0, count - 1, 'WITHSCORES') or {}
end

-- An answer of several values is one text: for an array the server would allocate 16 KB, too.
local answer = cmsgpack.pack

-- An owner is token (8 bytes), host (8), list (1 digit), alone (1 digit), score. It may be missing where
-- a server evicts keys against all advice: its page comes to rest, and the others go on.
local function pack_owner(token, host, list, alone, score) return token .. host .. DIGIT[list] .. alone .. score end
local function token_of(owner) return sub(owner, 1, 8) end
local function host_of(owner) return sub(owner, 9, 16) end

local function unpack_owner(owner)
  if not owner then return nil end
  return {
    token = token_of(owner),
    host = host_of(owner),
    list = tonumber(sub(owner, 17, 17)),
    alone = sub(owner, 18, 18) == '1',
    score = sub(owner, 19),
  }
end

-- When a host may be visited again, whether somebody holds it until then, and its own gap (or the
-- default one). A holder that died may have sent its request at the last moment: the gap follows.
local function host_state(host, default_gap)
  local state = call('HMGET', host_key(host), 'next', 'until', 'gap')
  local free_at, gap = tonumber(state[1] or 0), tonumber(state[3] or default_gap)
  local held_until = state[2] and tonumber(state[2]) + gap or 0
  return math.max(free_at, held_until), held_until > free_at, gap
end

-- A host stands in a ready set while it has URLs of that list, at max(may be visited, earliest due).
-- One that is ready already keeps its place in the line: breadth first.
local function rescore_list(list, host, free_at, now)
  local ready = ready_key(list)
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

-- A page was found closer to a seed than it was known: its links have to be followed further, so it is due.
local function raise(id, host, known, level, due)
  call('HSET', bucket_key(id), id, string.char(level) .. sub(known, 2))
  local queue = queue_key(list_of(known), host)
  if call('ZSCORE', queue, id) then
    call('ZADD', queue, 'LT', score_of(due, level), id)
  elseif call('HEXISTS', OWNERS, id) == 1 then
    -- A leased page is requeued by its `complete`, which is told of the greater level here.
    call('HSET', RAISED, id, level)
  end
end

local function enqueue(id, host, record, due)
  call('ZADD', queue_key(list_of(record), host), score_of(due, level_of(record)), id)
end

-- The lease of `id` if `token` still holds it, else nil.
local function held_lease(id, token)
  local lease = unpack_owner(call('HGET', OWNERS, id))
  return lease and lease.token == token and lease or nil
end

local function drop_lease(id)
  call('ZREM', LEASES, id)
  call('HDEL', OWNERS, id)
  call('HDEL', RAISED, id)
end

-- A page that a worker may have died of is given out alone, at `time` or later.
local function make_suspect(id, lease, time)
  call('ZREM', LEASES, id)
  call('ZADD', SUSPECTS, time, id)
  call('HSET', OWNERS, id, pack_owner('suspect-', lease.host, lease.list, '0', lease.score))
end
