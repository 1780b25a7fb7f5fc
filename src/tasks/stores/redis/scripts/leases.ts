import { IDLE, OWN_STATUS, PENDING, TASK, TURN_MESSAGE } from "./fragments.js";

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

/** Evicts a task, unless it is running again, and notifies its readers. */
export const EVICT = `${TASK}
if not redis.call('ZSCORE', idle, id) then
  -- Its place is free if its owner's indexes have no such task.
  if not redis.call('ZSCORE', tasks, id) then redis.call('ZREM', kept, kept_name()) end
  return 0
end
redis.call('ZREM', kept, kept_name())
redis.call('UNLINK', columns, journal, heard, pushes, snapshot)
redis.call('ZREM', idle, id)
redis.call('ZREM', tasks, id)
redis.call('HDEL', rows, id)
ring()
return 1
`;
