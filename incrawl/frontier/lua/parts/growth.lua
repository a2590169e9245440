-- needs: buckets
-- How room is made for more records.
local RECORDS_PER_BUCKET = 16
local AT_ONCE = 1000 -- records moved in one command, should somebody choose URLs that share a bucket

-- Splits the next bucket in turn: about half of its records move to the new last one.
local function split()
  local source, target = BUCKET .. (buckets - low), BUCKET .. buckets
  local entries = call('HGETALL', source)
  local moved, ids = {}, {}
  for i = 1, #entries, 2 do
    if read_number('>I4', entries[i]) % (low * 2) == buckets then
      ids[#ids + 1] = entries[i]
      moved[#moved + 1] = entries[i]
      moved[#moved + 1] = entries[i + 1]
    end
  end
  for first = 1, #ids, AT_ONCE do
    local last = math.min(first + AT_ONCE - 1, #ids)
    call('HSET', target, unpack(moved, 2 * first - 1, 2 * last))
    call('HDEL', source, unpack(ids, first, last))
  end
  buckets = buckets + 1
  call('HSET', META, 'buckets', buckets)
  if buckets == low * 2 then low = buckets end
end

-- Counts URLs that were added, and makes room for more: where buckets were larger once, little by little.
local function count_new(new)
  if new == 0 then return end
  local urls = call('HINCRBY', META, 'urls', new)
  local wanted = math.min(math.ceil(urls / RECORDS_PER_BUCKET), buckets + new)
  while buckets < wanted do split() end
end
