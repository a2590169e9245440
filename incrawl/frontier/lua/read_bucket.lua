-- read_bucket: one bucket of records as it is now.
-- ARGV: number of the bucket.
-- Returns {how many buckets there are, [URL id, packed record, …]}.
-- needs: buckets
return answer({ buckets, call('HGETALL', BUCKET .. ARGV[1]) })
