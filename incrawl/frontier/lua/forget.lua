-- forget: a URL is no longer known; a worker that has it now will have its result refused. The lock
-- on its host runs out by itself: a request may be under way.
-- ARGV: id, host id.
-- Returns 1, or 0 when it was not known.
-- needs: records, buckets, queues, hosts, ready, leases
local id, host = ARGV[1], ARGV[2]
local record = call('HGET', bucket_key(id), id)
if not record then return 0 end

local now = clock()
drop_lease(id)
call('ZREM', SUSPECTS, id)
call('HDEL', DEATHS, id)
call('HDEL', QUARANTINE, id)
call('ZREM', queue_key(list_of(record), host), id)
call('HDEL', bucket_key(id), id)
call('HINCRBY', META, 'urls', -1)
rescore_list(list_of(record), host, (host_state(host, 0)), now)
return 1
