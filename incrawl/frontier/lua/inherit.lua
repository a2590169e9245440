-- inherit: a page takes over the record of one that has moved to its address, unless it has been visited
-- itself: then nothing is written.
-- ARGV: id, host id, host name, packed record as it is known ('': not known), packed record to write,
--       delay ms until due (-1: never).
-- Returns 1, or 0 when the page is not as it was known, or is with a worker.
-- needs: records, buckets, growth, queues, hosts, ready, leases
local id, host, name, before, after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local delay = tonumber(ARGV[6])
local bucket = bucket_key(id)
if (call('HGET', bucket, id) or '') ~= before then return 0 end
if call('HEXISTS', OWNERS, id) == 1 then return 0 end

local now = clock()
local free_at = host_state(host, 0)
call('HSETNX', host_key(host), 'name', name)
call('HSET', bucket, id, after)
if before ~= '' then
  call('HDEL', QUARANTINE, id)
  call('HDEL', DEATHS, id)
  call('ZREM', queue_key(list_of(before), host), id)
  rescore_list(list_of(before), host, free_at, now)
end
if delay >= 0 then
  enqueue(id, host, after, now + delay)
  rescore_list(list_of(after), host, free_at, now)
end
count_new(before == '' and 1 or 0)
return 1
