-- look: what is known of one URL, without changing anything.
-- ARGV: id, host id.
-- Returns false, or {packed record, state, due, expiry or may be had, ms, deaths}, the state being one of
-- queued, leased, suspect, quarantined, retired.
-- needs: records, buckets, queues, leases
local id, host = ARGV[1], ARGV[2]
local record = call('HGET', bucket_key(id), id)
if not record then return false end
local deaths = tonumber(call('HGET', DEATHS, id) or 0)
local expiry = call('ZSCORE', LEASES, id)
if expiry then return answer({ record, 'leased', tonumber(expiry), deaths }) end
local free_at = call('ZSCORE', SUSPECTS, id)
if free_at then return answer({ record, 'suspect', tonumber(free_at), deaths }) end
if call('HEXISTS', QUARANTINE, id) == 1 then return answer({ record, 'quarantined', -1, deaths }) end
local score = call('ZSCORE', queue_key(list_of(record), host), id)
if score then return answer({ record, 'queued', due_of(score), deaths }) end
return answer({ record, 'retired', -1, deaths })
