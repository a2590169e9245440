-- read_bucket: one bucket of records as it is now.
-- ARGV: number of the bucket.
-- Returns {how many buckets there are, in msgpack URL id, packed record, …}.
return { buckets, cmsgpack.pack(call('HGETALL', BUCKET .. ARGV[1])) }
