-- look_many: records of many URLs of one partition, and when they are due, without changing anything.
-- ARGV: for each URL: id, host id.
-- Returns for each URL its packed record (false: not known) and its due ms (-1: it is not waiting).
-- needs: records, buckets, queues
local found = {}
for at = 1, #ARGV, 2 do
  local id, host = ARGV[at], ARGV[at + 1]
  local record = call('HGET', bucket_key(id), id)
  local score = record and call('ZSCORE', queue_key(list_of(record), host), id)
  found[#found + 1] = record
  found[#found + 1] = score and due_of(score) or -1
end
return answer(found)
