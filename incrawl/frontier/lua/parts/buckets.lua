-- What is known of URLs lies in small hashes, which the server packs tightly. Their number grows one by one
-- (linear hashing, in growth.lua), so that a bucket holds about as many records at a thousand URLs as at a billion.
local BUCKET = NS .. 'r:'

local buckets = tonumber(call('HGET', META, 'buckets') or 1)
local low = 1 -- the greatest power of two that is not above it
while low * 2 <= buckets do low = low * 2 end

local function bucket_key(id)
  local hash = read_number('>I4', id)
  local bucket = hash % (low * 2)
  if bucket >= buckets then bucket = hash % low end
  return format('%s%d', BUCKET, bucket) -- faster than what Lua makes of a number by itself
end
