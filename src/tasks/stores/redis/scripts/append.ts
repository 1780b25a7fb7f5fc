import { IDLE, PENDING, TASK } from "./fragments.js";

/** How a write went, as one number: small to send and quick to read. */
export const APPENDED = { cancelRequested: 1, pushDue: 2, closed: -1, fenced: -2, sequence: -3, full: -4, queued: -5 } as const;

/**
 * Entries into the journal, fenced by epoch and sequence. Arguments: epoch, after, bytes, "1" for a closing status alone,
 * "1" to refuse while a message waits, saved value or "", state or "", its time, phase it leads to, then the entries.
 */
export const APPEND = `${TASK}${IDLE}${PENDING}
local epoch, after, bytes, closing, unless_heard, saved, state, at, phase = unpack(ARGV, 4, 12)
local FIRST = 13
local count = #ARGV - FIRST + 1
local c = redis.call('HMGET', columns, 'phase', 'epoch', 'seq', 'queue', 'bytes', 'heard', 'cancel', 'pushes', 'gone', 'row')
if not c[1] or is_over(c[9]) then return ${APPENDED.closed} end

local function written(seq)
  local to_tell = c[8] and any_pending(seq)
  return tonumber(c[7] or 0) + (to_tell and ${APPENDED.pushDue} or 0)
end

-- The same batch again: its answer was lost on the way, not its entries.
local function is_there()
  local kept = redis.call('LRANGE', journal, after, -1)
  for i = 1, count do if kept[i] ~= ARGV[FIRST + i - 1] then return false end end
  return true
end
local seq, expected = tonumber(c[3]), tonumber(after)
if count > 0 and c[2] == epoch and seq == expected + count and is_there() then return written(seq) end

if c[1] == 'end' then return ${APPENDED.closed} end
if c[1] ~= 'run' or c[2] ~= epoch then return ${APPENDED.fenced} end
if seq ~= expected then return ${APPENDED.sequence} end
if unless_heard == '1' and c[4] and c[4] ~= '' then return ${APPENDED.queued} end
if closing ~= '1' and (seq + (c[6] or 0) + count > JOURNAL_ENTRIES or c[5] + bytes > JOURNAL_BYTES) then
  return ${APPENDED.full}
end

-- Lua hands over a limited number of values at once.
for from = FIRST, #ARGV, 1000 do redis.call('RPUSH', journal, unpack(ARGV, from, math.min(from + 999, #ARGV))) end
seq = seq + count
if state == '' then
  redis.call('HSET', columns, 'seq', int(seq), 'bytes', int(c[5] + bytes))
else
  local small = { 'seq', int(seq), 'bytes', int(c[5] + bytes), 'state', state, 'phase', phase }
  if phase == 'end' then small[9], small[10] = 'gone', int(now + KEPT_TASKS_MS) end
  redis.call('HSET', columns, unpack(small))
  show_state(state, at, c[10])
  if phase == 'end' then close(c[6], c[8]) elseif phase == 'rest' then rest() end
end
if saved ~= '' then redis.call('HSET', columns, 'saved', saved) end
ring()
return written(seq)
`;

/** Keeps a lease. Arguments: epoch, leaseMs. */
export const RENEW = `${TASK}${PENDING}
local c = redis.call('HMGET', columns, 'phase', 'epoch', 'seq', 'cancel', 'pushes')
if not c[1] or c[1] == 'end' then return ${APPENDED.closed} end
if c[1] ~= 'run' or c[2] ~= ARGV[4] then return ${APPENDED.fenced} end
redis.call('HSET', columns, 'until', int(now + ARGV[5]))
local to_tell = c[5] and any_pending(tonumber(c[3]))
return tonumber(c[4] or 0) + (to_tell and ${APPENDED.pushDue} or 0)
`;
