-- renew: a living worker keeps its leases, and with them the locks on their hosts.
-- ARGV: lease ms, then for each lease: id, token.
-- Returns for each lease 1 if it was renewed, 0 if it is lost.
-- needs: hosts, leases
local now = clock()
local expiry = now + tonumber(ARGV[1])
local renewed = {}
for at = 2, #ARGV, 2 do
  local lease = held_lease(ARGV[at], ARGV[at + 1])
  if lease then
    call('ZADD', LEASES, expiry, ARGV[at])
    if call('HGET', host_key(lease.host), 'lock') == lease.token then
      call('HSET', host_key(lease.host), 'until', expiry)
    end
  end
  renewed[#renewed + 1] = lease and 1 or 0
end
return answer(renewed)
