-- begin: a run starts; what is due now, and what is discovered from now on, is its work.
-- ARGV: (none)
-- Returns the server's time in ms.
local now = clock()
call('HSET', META, 'horizon', now)
return now
