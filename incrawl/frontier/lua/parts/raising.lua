-- needs: records, buckets, queues, leases
-- A page was found closer to a seed than it was known. Its links have to be followed further: it is due, unless
-- it rests (retired, quarantined).
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
