-- release: gives a lease back; the page is due as before, or after a delay. A suspect stays suspect.
-- ARGV: id, token, delay ms (-1: due as before), ms since the last response ended (-1: no request
--       was sent), default gap ms.
-- Returns 1, or 0 when the lease was lost.
-- needs: buckets, queues, hosts, ready, leases
local id, token, delay = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lease = held_lease(id, token)
if not lease then return 0 end

local now = clock()
local free_at = free_host(lease.host, { [token] = true }, now, tonumber(ARGV[4]), tonumber(ARGV[5]))
if lease.alone then
  make_suspect(id, lease, now + math.max(0, delay))
else
  drop_lease(id)
  local record = call('HGET', bucket_key(id), id)
  -- It may be missing where a server evicts keys against all advice.
  if record then enqueue(id, lease.host, record, delay >= 0 and now + delay or due_of(lease.score)) end
end
rescore(lease.host, free_at, now)
return 1
