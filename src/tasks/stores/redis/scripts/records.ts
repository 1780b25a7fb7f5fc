import { CLEARED_AT_ONCE } from "../../record-limits.js";
import { CLOCK } from "./fragments.js";

/**
 * Records other than tasks. Keys: values by name, ordered names, expiry times, and total bytes. Arguments: the time, then
 * those of the operation: name, value, lifetime or "".
 */
const RECORDS = `${CLOCK}
local values, names, ends, total = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- No value is empty, so one without a length is not there.
local function bytes_of(name)
  local length = redis.call('HSTRLEN', values, name)
  return length == 0 and 0 or #name + length
end
local function forget(gone)
  if #gone == 0 then return end
  local bytes = 0
  for _, name in ipairs(gone) do bytes = bytes + bytes_of(name) end
  if redis.call('DECRBY', total, int(bytes)) == 0 then redis.call('DEL', total) end
  redis.call('HDEL', values, unpack(gone))
  redis.call('ZREM', names, unpack(gone))
  redis.call('ZREM', ends, unpack(gone))
end
local function is_over(name)
  local till = redis.call('ZSCORE', ends, name)
  return till and tonumber(till) <= now
end
local function live(name)
  local value = redis.call('HGET', values, name)
  if value and is_over(name) then
    forget({ name })
    return false
  end
  return value
end
`;

/** Only expired records are evicted. */
const WRITE = `
local CLEARED_AT_ONCE = '${CLEARED_AT_ONCE}'
local function clear()
  local over = redis.call('ZRANGEBYSCORE', ends, '-inf', int(now), 'LIMIT', '0', CLEARED_AT_ONCE)
  forget(over)
  return #over
end
local function has_room(name, value)
  local before = bytes_of(name)
  local more = #name + #value - before
  if before == 0 then clear() end
  while more > 0 and tonumber(redis.call('GET', total) or 0) + more > KEPT_RECORD_BYTES do
    if clear() == 0 then return false end
  end
  return before > 0 or redis.call('ZCARD', names) < KEPT_RECORDS
end
local function write(name, value, keep)
  redis.call('INCRBY', total, int(#name + #value - bytes_of(name)))
  redis.call('HSET', values, name, value)
  redis.call('ZADD', names, '0', name)
  if keep == '' then redis.call('ZREM', ends, name) else redis.call('ZADD', ends, int(now + keep), name) end
end
`;

export const GET_RECORD = `${RECORDS}
return live(ARGV[2])
`;

/** 0: no room. */
export const PUT_RECORD = `${RECORDS}${WRITE}
local name, value, keep = ARGV[2], ARGV[3], ARGV[4]
live(name)
if not has_room(name, value) then return 0 end
write(name, value, keep)
return 1
`;

/** The one that is there; else 1 when it was added, 0 when there is no room. */
export const ADD_RECORD = `${RECORDS}${WRITE}
local name, value, keep = ARGV[2], ARGV[3], ARGV[4]
local known = live(name)
if known then return known end
if not has_room(name, value) then return 0 end
write(name, value, keep)
return 1
`;

export const DELETE_RECORD = `${RECORDS}
local name = ARGV[2]
local known = live(name)
if known then forget({ name }) end
return known and 1 or 0
`;

/** The new count; "" when there is no room. What is no counter has counted nothing. Arguments: name, for how long or "". */
export const COUNT_RECORD = `${RECORDS}${WRITE}
local name, keep = ARGV[2], ARGV[3]
local known = live(name)
local count = int((tonumber(string.match(known or '', '^{"count":(%-?%d+)}$')) or 0) + 1)
local value = '{"count":' .. count .. '}'
if not has_room(name, value) then return '' end
write(name, value, keep)
return count
`;

/** Names and values alternate. Expired records found on the way are removed. Arguments: from, to, limit. */
export const LIST_RECORDS = `${RECORDS}
local NAMES_AT_ONCE = 256
local from, to, limit = ARGV[2], ARGV[3], tonumber(ARGV[4])
local found = {}
while #found < limit * 2 do
  local wanted = math.min(limit - #found / 2, NAMES_AT_ONCE)
  local page, over = redis.call('ZRANGEBYLEX', names, from, to, 'LIMIT', '0', int(wanted)), {}
  for _, name in ipairs(page) do
    if is_over(name) then
      over[#over + 1] = name
    else
      found[#found + 1] = name
      found[#found + 1] = redis.call('HGET', values, name)
    end
  end
  forget(over)
  if #page < wanted then break end
  from = '(' .. page[#page]
end
return found
`;
