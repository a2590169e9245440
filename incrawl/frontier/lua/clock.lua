-- clock: the server's time, as the partition's other scripts see it.
-- ARGV: (none)
-- Returns ms.
return math.floor((read_clock()))
