-- adopt: puts back URLs that a back-up or the repository knows. A known one is left alone, unless it is closer
-- to a seed there.
-- ARGV: for each URL: id, host id, host name, packed record, due ms (-1: never again, -2: quarantined).
-- Returns how many were not known.
-- needs: records, buckets, growth, queues, hosts, ready, leases, raising
local now = clock()
local new = 0

local function queue(id, host, record, due)
  if due == -2 then call('HSET', QUARANTINE, id, host .. list_of(record) .. now) end
  if due >= 0 then enqueue(id, host, record, math.max(1, due)) end
end

for at = 1, #ARGV, 5 do
  local id, host, name, record, due = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], tonumber(ARGV[at + 4])
  local known = call('HGET', bucket_key(id), id)
  if not known then
    call('HSET', bucket_key(id), id, record)
    call('HSETNX', host_key(host), 'name', name)
    queue(id, host, record, due)
    new = new + 1
  elseif level_of(known) < level_of(record) then
    raise(id, host, known, level_of(record), now)
  end
  rescore_list(list_of(known or record), host, (host_state(host, 0)), now)
end
count_new(new)
return new
