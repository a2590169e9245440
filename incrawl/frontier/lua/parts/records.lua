-- A record starts with two bytes that scripts read: level, list. The rest is the workers' business.
local LISTS = 3

local function level_of(record) return byte(record, 1) or 0 end
local function list_of(record) return (byte(record, 2) or 0) % LISTS end
