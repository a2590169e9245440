-- reschedule: an operator or a batch job moves a page's next visit; a quarantined page comes free.
-- ARGV: id, host id, delay ms from now (0: a run that is under way takes it, too; -1: never again).
-- Returns 1; 0 when the URL is not known; 2 when a worker has it now, so that nothing was moved.
-- needs: records, buckets, queues, hosts, ready, leases
local id, host, delay = ARGV[1], ARGV[2], tonumber(ARGV[3])
local record = call('HGET', bucket_key(id), id)
if not record then return 0 end
if call('ZSCORE', LEASES, id) then return 2 end

local now = clock()
call('ZREM', SUSPECTS, id)
drop_lease(id)
call('HDEL', DEATHS, id)
call('HDEL', QUARANTINE, id)
local list = list_of(record)
call('ZREM', queue_key(list, host), id)
if delay > 0 then enqueue(id, host, record, now + delay) end
if delay == 0 then enqueue(id, host, record, math.min(now, tonumber(call('HGET', META, 'horizon') or now))) end
rescore_list(list, host, (host_state(host, 0)), now)
return 1
