-- shelve: makes URLs known that are not to be visited for now. Known ones are left alone.
-- ARGV: for each URL: id, host id, host name, packed record.
-- Returns how many were new.
-- needs: buckets, growth, hosts
clock()
local new = 0
for at = 1, #ARGV, 4 do
  local id, host, name, record = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  if call('HSETNX', bucket_key(id), id, record) == 1 then
    call('HSETNX', host_key(host), 'name', name)
    new = new + 1
  end
end
count_new(new)
return new
