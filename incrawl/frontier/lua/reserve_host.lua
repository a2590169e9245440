-- reserve_host: a request outside a lease's own first one (redirect, retry, robots.txt, sitemap)
-- asks for its host. Granted, the host is locked by the token until it is freed or the lock runs out.
-- ARGV: host id, host name, token, lock ms, default gap ms.
-- Returns 0 when granted, else the ms to wait before asking again.
-- needs: hosts
local RECHECK = 500
local host, token = ARGV[1], ARGV[3]
local now = clock()
local free_at, locked, gap = host_state(host, tonumber(ARGV[5]))
if free_at > now and not (locked and call('HGET', host_key(host), 'lock') == token) then
  return math.max(1, locked and math.min(free_at - now, RECHECK) or free_at - now)
end
call('HSETNX', host_key(host), 'name', ARGV[2])
if gap > 0 then
  call('HSET', host_key(host), 'lock', token, 'until', now + tonumber(ARGV[4]))
end
return 0
