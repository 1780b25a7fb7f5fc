import { IDLE, MATERIAL, OWN_STATUS, PENDING, TASK, TURN_MESSAGE } from "./fragments.js";

/** The caller's messages. They are not journal entries: each stores the entry it came after. */
const ADD_MESSAGE = `
local c = redis.call('HMGET', columns, 'phase', 'seq', 'heard', 'bytes', 'queue', 'epoch', 'turn', 'context', 'saved', 'pushes',
  'gone', 'row')
-- A message that is sealed for its place has the number of messages before it, and the entry it comes after.
local message, key, bytes, place, place_after = unpack(ARGV, 4, 8)
local phase, seq, said = c[1], tonumber(c[2] or 0), tonumber(c[3] or 0)
local is_missing = not phase or is_over(c[11])
local function was_heard() return key ~= '' and redis.call('HEXISTS', columns, 'k:' .. key) == 1 end
local function fits(entries, more) return seq + said + entries <= JOURNAL_ENTRIES and c[4] + more <= JOURNAL_BYTES end
local function has_moved() return place ~= '' and tonumber(place) ~= said end
local function hear(more)
  redis.call('RPUSH', heard, (place == '' and int(seq) or place_after) .. ' ' .. message)
  redis.call('HSET', columns, 'heard', said + 1, 'bytes', c[4] + more)
  if key ~= '' then redis.call('HSET', columns, 'k:' .. key, 1) end
end
`;

/** A message to a running task. Arguments: message, its idempotency key or "", its bytes, its place or "" twice. `moved`: it is not its place. */
export const ENQUEUE_MESSAGE = `${TASK}${TURN_MESSAGE}${ADD_MESSAGE}
if is_missing then return 'missing' end
if was_heard() then return 'repeated' end
if phase == 'end' then return 'closed' end
if phase == 'rest' then return 'interrupted' end
if waiting_in(c[5]) >= INPUTS_PER_TASK then return 'busy' end
if not fits(1, bytes) then return 'full' end
if has_moved() then return 'moved' end
hear(bytes)
-- The queue holds places in the list of what was heard.
redis.call('HSET', columns, 'queue', (c[5] or '') .. int(said) .. ',')
return 'queued'
`;

/** Starts a new turn of an interrupted task. Arguments: message, its key or "", its bytes, its place or "" twice, bytes of a status, holder, leaseMs. */
export const RESUME = `${TASK}${IDLE}${PENDING}${MATERIAL}${OWN_STATUS}${ADD_MESSAGE}
local event_bytes, holder, lease = ARGV[9], ARGV[10], ARGV[11]
if is_missing then return { 'missing' } end
if was_heard() then return { 'repeated' } end
if phase == 'end' then return { 'closed' } end
if phase ~= 'rest' then return { 'running' } end
if not fits(1, bytes) or not fits(1, event_bytes) then return { 'full' } end
if has_moved() or (place ~= '' and tonumber(place_after) ~= seq + 1) then return { 'moved' } end
redis.call('RPUSH', journal, own_status(c[8], 'working'))
seq = seq + 1
local epoch, turn = c[6] + 1, c[7] + 1
redis.call('HSET', columns, 'state', 'working', 'phase', 'run', 'seq', seq, 'epoch', epoch, 'holder', holder,
  'until', now + lease, 'turn', turn)
hear(bytes + event_bytes)
to_running()
show_state('working', now, c[12])
ring()
return { 'ok', epoch, turn, c[9] or '', material(seq), c[10] and any_pending(seq) and 1 or 0 }
`;

/** The oldest queued message; idempotent if the reply was lost. Arguments: epoch, the turn that ended. */
export const NEXT_TURN = `${TASK}${MATERIAL}${TURN_MESSAGE}
local c = redis.call('HMGET', columns, 'phase', 'epoch', 'queue', 'turn', 'seq', 'saved', 'heard')
if c[1] ~= 'run' or c[2] ~= ARGV[4] then return false end
local queue, turn = c[3] or '', tonumber(c[4])
if c[4] == ARGV[5] then
  if queue == '' then return false end
  queue, turn = string.match(queue, '^%d+,(.*)$'), turn + 1
  redis.call('HSET', columns, 'queue', queue, 'turn', int(turn))
end
return { turn_message(c[7], queue), turn, c[6] or '', material(tonumber(c[5])) }
`;
