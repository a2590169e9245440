-- amend: a batch job or a seed file changes a record in place, if it still is what the job read and
-- no worker has it, whose result would undo the change.
-- ARGV: id, host id, packed record as read, packed record to write.
-- Returns 1, or 0 when the record has changed, is gone or is leased.
-- needs: records, buckets, queues, hosts, ready, leases
local id, host, before, after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if call('HGET', bucket_key(id), id) ~= before then return 0 end
if call('ZSCORE', LEASES, id) then return 0 end

local now = clock()
call('HSET', bucket_key(id), id, after)
call('HDEL', RAISED, id)
local from, to = list_of(before), list_of(after)
local score = call('ZSCORE', queue_key(from, host), id)
if score and (from ~= to or level_of(before) ~= level_of(after)) then
  call('ZREM', queue_key(from, host), id)
  enqueue(id, host, after, due_of(score))
  rescore(host, (host_state(host, 0)), now)
end
return 1
