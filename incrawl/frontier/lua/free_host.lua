-- free_host: ends a reservation; the host is left in peace for its gap.
-- ARGV: host id, token, ms since the last response ended (-1: no request was sent), default gap ms.
-- Returns 1.
-- needs: hosts, ready
local now = clock()
rescore(ARGV[1], (free_host(ARGV[1], { [ARGV[2]] = true }, now, tonumber(ARGV[3]), tonumber(ARGV[4]))), now)
return 1
