import { CLOCK, IDLE, INDEXES, OWNER_DIGEST, TASK } from "./fragments.js";

/**
 * Creates a task, its key and its first webhook. `room`: these tasks of the subject have to be evicted first, and their keys are not
 * known here. `there`: the id is taken. Arguments: owner, agent, context, state, time of the state, bytes, holder, leaseMs, first
 * entry, idempotency key or "", digest, keepMs, expireMs of the key, webhook's id or "", webhook.
 */
export const CREATE = `${TASK}${IDLE}
-- The last two keys are given only with an idempotency key.
local key_kept, keys = KEYS[10], KEYS[11]
local owner, agent, context, state, at, bytes, holder = unpack(ARGV, 4, 10)
local lease, first, key, digest, keep, key_expire, push_id, push = unpack(ARGV, 11, 18)

-- The same create again: its answer was lost on the way, not its work.
local there = redis.call('HMGET', columns, 'epoch', 'holder')
if there[1] then
  if there[1] ~= '1' or there[2] ~= holder or redis.call('LINDEX', journal, 0) ~= first then return { 'there' } end
  redis.call('HSET', columns, 'until', int(now + lease))
  return { 'made' }
end

if key_kept then
  local known = redis.call('GET', key_kept)
  local till, its_digest, its_task = string.match(known or '', '^(%d+) (%S*) (.*)$')
  if till and tonumber(till) > now then
    if its_digest ~= digest then return { 'conflict' } end
    local gone = redis.call('ZSCORE', idle, its_task)
    local is_kept = redis.call('ZSCORE', tasks, its_task) and not (gone and tonumber(gone) < (now + 1) * PLACES)
    if is_kept then return { 'repeated', its_task } end
    return { 'expired' }
  end
  if redis.call('ZCOUNT', keys, '(' .. int(now), '+inf') >= KEYS_PER_OWNER then return { 'full' } end
end

if kept_count() >= KEPT_TASKS then
  local oldest = oldest_kept(EVICTED_AT_ONCE)
  if #oldest == 0 then return { 'full' } end
  return { 'room', unpack(oldest) }
end

-- Redis refuses a script for want of memory at its first write only, and never after one that frees memory: so this one is first.
local row = #context .. ':' .. context .. (key_kept and '=' .. key or '')
redis.call('HSET', columns, 'owner', owner, 'agent', agent, 'context', context, 'row', row, 'state', state, 'phase', 'run',
  'seq', '1', 'epoch', '1', 'holder', holder, 'until', int(now + lease), 'turn', '1', 'bytes', bytes)
clear_over('32')
redis.call('ZADD', kept, int(RUNNING), kept_name())
if key_kept then redis.call('ZREMRANGEBYSCORE', keys, '-inf', int(now)) end
redis.call('RPUSH', journal, first)
if push_id ~= '' then
  redis.call('HSET', columns, 'pushes', '1')
  redis.call('HSET', pushes, 's:' .. push_id, '1 0 0 0 0 0 0', 'c:' .. push_id, push)
end
show_state(state, at, row)
if redis.call('PTTL', tasks) > 0 then for i = 6, 8 do redis.call('PERSIST', KEYS[i]) end end
redis.call('PERSIST', kept)
if key_kept then
  redis.call('SET', key_kept, int(now + keep) .. ' ' .. digest .. ' ' .. id, 'PX', key_expire)
  redis.call('ZADD', keys, int(now + keep), key_kept)
  if redis.call('PTTL', keys) < tonumber(key_expire) then redis.call('PEXPIRE', keys, key_expire) end
end
return { 'made' }
`;

/**
 * Tasks of one owner that ended before they were stored: without a lease, and without a wake-up, because nobody knows of them. `alone`:
 * nothing was stored, because there cannot be room for all of them or an id is taken. `room`: nothing was stored, and these tasks of the
 * subject have to be evicted first. `stored`: these are to be evicted now, so that the next ones need not wait for it. Keys: the
 * indexes, then columns and journal of each task. Arguments: the time, the owner; then of each task
 * its id, agent, context, state, time of the state, bytes, holder, saved value or "", number of entries, and the entries.
 */
export const STORE_ENDED = `${CLOCK}
local tasks, idle, rows, kept = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner = ARGV[2]
${OWNER_DIGEST}${INDEXES}
local FIRST_TASK = 5
local count = (#KEYS - FIRST_TASK + 1) / 2
if redis.call('EXISTS', unpack(KEYS, FIRST_TASK)) > 0 then return { 'alone' } end
local room = KEPT_TASKS - kept_count() - count
if room < 0 then
  local oldest = oldest_kept(math.max(-room, EVICTED_AT_ONCE))
  if count > KEPT_TASKS or #oldest < -room then return { 'alone' } end
  return { 'room', unpack(oldest) }
end

local digest = owner_digest()
local place = redis.call('ZCOUNT', kept, '-inf', '(8e15')
local gone = now + KEPT_TASKS_MS
local listed, scores, names, states = {}, {}, {}, {}
local from = 3
for i = FIRST_TASK, #KEYS, 2 do
  local columns, journal = KEYS[i], KEYS[i + 1]
  local id, agent, context, state, at, bytes, holder, saved, entries = unpack(ARGV, from, from + 8)
  local row = #context .. ':' .. context
  -- Redis refuses a script for want of memory at its first write only, and never after one that frees memory: so this one is first.
  redis.call('HSET', columns, 'owner', owner, 'agent', agent, 'context', context, 'row', row, 'state', state, 'phase', 'end',
    'seq', entries, 'epoch', '1', 'holder', holder, 'turn', '1', 'bytes', bytes, 'gone', int(gone))
  if saved ~= '' then redis.call('HSET', columns, 'saved', saved) end
  local next_task = from + 9 + entries
  -- Lua hands over a limited number of values at once.
  for entry = from + 9, next_task - 1, 1000 do
    redis.call('RPUSH', journal, unpack(ARGV, entry, math.min(entry + 999, next_task - 1)))
  end
  redis.call('PEXPIRE', columns, EXPIRE_MS)
  redis.call('PEXPIRE', journal, EXPIRE_MS)
  local score = int(gone * PLACES + place % PLACES)
  place = place + 1
  local last = #listed
  listed[last + 1], listed[last + 2] = int(-at), id
  scores[last + 1], scores[last + 2] = score, id
  names[last + 1], names[last + 2] = score, digest .. id
  states[last + 1], states[last + 2] = id, state .. ' ' .. row
  from = next_task
end
redis.call('ZADD', tasks, unpack(listed))
redis.call('ZADD', idle, unpack(scores))
redis.call('ZADD', kept, unpack(names))
redis.call('HSET', rows, unpack(states))
clear_over(int(32 + count))
let_expire()
-- By the one that takes this part of the room: the others that are under way would name the same tasks.
if room < EVICTED_AHEAD and room + count >= EVICTED_AHEAD then return { 'stored', unpack(oldest_kept(EVICTED_AT_ONCE)) } end
return { 'stored' }
`;

/**
 * Removes a task and its key if its creator never learned that it was made: nobody runs it. Arguments: the creator, and how many entries
 * it wrote. Frees memory only, so that it runs where memory is exhausted.
 */
export const WITHDRAW = `${TASK}
local key_kept, keys = KEYS[10], KEYS[11]
local c = redis.call('HMGET', columns, 'epoch', 'holder', 'seq')
if c[1] ~= '1' or c[2] ~= ARGV[4] or c[3] ~= ARGV[5] then return 0 end
redis.call('UNLINK', columns, journal, heard, pushes, snapshot)
redis.call('ZREM', tasks, id)
redis.call('ZREM', idle, id)
redis.call('ZREM', kept, kept_name())
redis.call('HDEL', rows, id)
if key_kept and string.match(redis.call('GET', key_kept) or '', '^%d+ %S* (.*)$') == id then
  redis.call('UNLINK', key_kept)
  redis.call('ZREM', keys, key_kept)
end
ring()
return 1
`;
