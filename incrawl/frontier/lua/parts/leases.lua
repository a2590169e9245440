-- Who has which page: leased ones by the time at which their lease ends, and the owner of each; suspects, which a
-- worker may have died of, by the time from which they are given out; what has become of suspects.
local LEASES = NS .. 'leases'
local OWNERS = NS .. 'owners'
local SUSPECTS = NS .. 'suspects'
local DEATHS = NS .. 'deaths'
local QUARANTINE = NS .. 'quarantine'
local RAISED = NS .. 'raised'

-- An owner is token (8 bytes), host (8), list (1 digit), alone (1 digit), score. It may be missing where
-- a server evicts keys against all advice: its page comes to rest, and the others go on.
local DIGIT = { [0] = '0', '1', '2' } -- of each list
local function pack_owner(token, host, list, alone, score) return token .. host .. DIGIT[list] .. alone .. score end
local function token_of(owner) return sub(owner, 1, 8) end
local function host_of(owner) return sub(owner, 9, 16) end

local function unpack_owner(owner)
  if not owner then return nil end
  return {
    token = token_of(owner),
    host = host_of(owner),
    list = tonumber(sub(owner, 17, 17)),
    alone = sub(owner, 18, 18) == '1',
    score = sub(owner, 19),
  }
end

-- The lease of `id` if `token` still holds it, else nil.
local function held_lease(id, token)
  local lease = unpack_owner(call('HGET', OWNERS, id))
  return lease and lease.token == token and lease or nil
end

local function drop_lease(id)
  call('ZREM', LEASES, id)
  call('HDEL', OWNERS, id)
  call('HDEL', RAISED, id)
end

-- A page that a worker may have died of is given out alone, at `time` or later.
local function make_suspect(id, lease, time)
  call('ZREM', LEASES, id)
  call('ZADD', SUSPECTS, time, id)
  call('HSET', OWNERS, id, pack_owner('suspect-', lease.host, lease.list, '0', lease.score))
end
