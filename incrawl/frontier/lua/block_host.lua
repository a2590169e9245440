-- block_host: nobody visits the host for a while (Retry-After, robots.txt out of reach, an operator's hold).
-- ARGV: host id, host name, ms from now (0: released), reason.
-- Returns the ms of the server's clock until which the host is blocked.
-- needs: hosts, ready
local host, span = ARGV[1], tonumber(ARGV[3])
local now = clock()
local key = host_key(host)
local ends = now
call('HSET', key, 'name', ARGV[2])
if span > 0 then
  ends = math.max(now + span, tonumber(call('HGET', key, 'next') or 0))
  call('HSET', key, 'reason', ARGV[4])
else
  call('HDEL', key, 'reason')
end
call('HSET', key, 'next', ends)
rescore(host, (host_state(host, 0)), now)
return ends
