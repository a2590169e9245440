-- adopt: puts back URLs that a back-up or the repository knows. A known one is left alone.
-- ARGV: for each URL: id, host id, host name, packed record, due ms (-1: never again, -2: quarantined).
-- Returns how many were not known.
local now = clock()
local new = 0
for at = 1, #ARGV, 5 do
  local id, host, name, record, due = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], tonumber(ARGV[at + 4])
  if redis.call('HSETNX', bucket_key(id), id, record) == 1 then
    redis.call('HSETNX', host_key(host), 'name', name)
    if due == -2 then redis.call('HSET', QUARANTINE, id, host .. list_of(record) .. now) end
    if due >= 0 then
      enqueue(id, host, record, due)
      rescore_list(list_of(record), host, (host_state(host, 0)), now)
    end
    new = new + 1
  end
end
count_new(new)
return new
