import { REPLAYS_CLEARED_AT_ONCE, REPLAYS_CLEARED_WHEN_FULL } from "../../replay-entry.js";
import { CLOCK } from "./fragments.js";

/**
 * Adds the nonce of a signed message. Keys: entries by their end, and entries by signer. Arguments: the time, signer, nonce, lifetime,
 * and the limits of all entries and of one signer. Returns 1 if it was added, 0 if it is there, -1 if there is no room. Signers have
 * names of one length, so an entry begins with its signer.
 */
export const ADD_REPLAY = `${CLOCK}
local ends, signers = KEYS[1], KEYS[2]
local signer, nonce, keep = ARGV[2], ARGV[3], tonumber(ARGV[4])
local most, most_of_one = tonumber(ARGV[5]), tonumber(ARGV[6])
local entry = signer .. nonce
local function forget(gone)
  if redis.call('ZREM', ends, gone) == 0 then return end
  local owner = string.sub(gone, 1, #signer)
  if redis.call('HINCRBY', signers, owner, '-1') <= 0 then redis.call('HDEL', signers, owner) end
end
local function clear(limit)
  local over = redis.call('ZRANGEBYSCORE', ends, '-inf', '(' .. int(now), 'LIMIT', '0', limit)
  for _, gone in ipairs(over) do forget(gone) end
  return #over
end
local function is_full()
  return redis.call('ZCARD', ends) >= most or tonumber(redis.call('HGET', signers, signer) or 0) >= most_of_one
end
clear('${REPLAYS_CLEARED_AT_ONCE}')
local till = redis.call('ZSCORE', ends, entry)
if till and tonumber(till) >= now then return 0 end
if till then forget(entry) end
while is_full() do
  if clear('${REPLAYS_CLEARED_WHEN_FULL}') == 0 then return -1 end
end
redis.call('ZADD', ends, int(now + keep), entry)
redis.call('HINCRBY', signers, signer, '1')
return 1
`;
