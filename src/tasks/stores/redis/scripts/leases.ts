import { IDLE, OWN_STATUS, OWNER_DIGEST, PENDING, TASK, TURN_MESSAGE } from "./fragments.js";

/** Stores the request, then notifies the holder's channel. Argument: bytes of a status. */
export const REQUEST_CANCEL = `${TASK}${IDLE}${PENDING}${OWN_STATUS}
local c = redis.call('HMGET', columns, 'phase', 'state', 'holder', 'seq', 'bytes', 'context', 'pushes', 'gone', 'row', 'heard')
if not c[1] or is_over(c[8]) then return false end
if c[1] == 'end' then return { 'closed', c[2] } end
redis.call('HSET', columns, 'cancel', 1)
if c[1] == 'run' then
  redis.call('PUBLISH', PREFIX .. ':h:' .. c[3], id)
  return { 'notified', c[3] }
end
redis.call('RPUSH', journal, own_status(c[6], 'canceled'))
local seq = c[4] + 1
redis.call('HSET', columns, 'state', 'canceled', 'phase', 'end', 'seq', seq, 'bytes', c[5] + ARGV[4],
  'gone', now + KEPT_TASKS_MS)
show_state('canceled', now, c[9])
close(c[10], c[7])
ring()
return { 'canceled', 'canceled', c[7] and any_pending(seq) and 1 or 0 }
`;

/**
 * Takes over an expired lease. Otherwise returns its expiry, or nothing if the task needs no holder.
 * Arguments: holder, leaseMs.
 */
export const TAKE_OVER = `${TASK}${TURN_MESSAGE}
local c = redis.call('HMGET', columns, 'phase', 'until', 'epoch', 'owner', 'agent', 'context', 'seq', 'turn', 'saved', 'cancel',
  'heard', 'queue')
if c[1] ~= 'run' then return false end
if tonumber(c[2]) > now then return { 'held', c[2] } end
local till = now + ARGV[5]
redis.call('HSET', columns, 'epoch', c[3] + 1, 'holder', ARGV[4], 'until', till)
return { 'taken', till, c[3] + 1, c[4], c[5], c[6], c[7], c[8], c[9] or '', c[10] or '',
  turn_message(c[11], c[12]) }
`;

/**
 * Evicts tasks of one owner, except those that run again, and notifies their readers. Keys: the indexes, then the keys of each task.
 * Arguments: the time, the calling store, the ids.
 */
export const EVICT = `
local tasks, idle, rows, kept = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
${OWNER_DIGEST}
local digest = owner_digest()
local ids, names = {}, {}
for i = 3, #ARGV do
  local id, own = ARGV[i], 5 + (i - 3) * 5
  if redis.call('ZSCORE', idle, id) then
    ids[#ids + 1] = id
    names[#names + 1] = digest .. id
    redis.call('UNLINK', unpack(KEYS, own, own + 4))
  elseif not redis.call('ZSCORE', tasks, id) then
    -- Its place is free if its owner's indexes have no such task.
    names[#names + 1] = digest .. id
  end
end
if #names > 0 then redis.call('ZREM', kept, unpack(names)) end
if #ids > 0 then
  redis.call('ZREM', idle, unpack(ids))
  redis.call('ZREM', tasks, unpack(ids))
  redis.call('HDEL', rows, unpack(ids))
  for _, id in ipairs(ids) do redis.call('PUBLISH', PREFIX .. ':w:' .. id, ARGV[2]) end
end
return #ids
`;
