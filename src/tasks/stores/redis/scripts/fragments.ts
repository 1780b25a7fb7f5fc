/** The time is the first argument of every script; "" for Redis's own. */
export const CLOCK = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
-- Redis writes a number of Lua's with all its digits as a fraction, which takes longer than most commands do.
local function int(number) return string.format('%d', number) end
`;

/** A name in the index of the subject has the digest of the owner in front, which is in the names of the owner's keys. */
export const OWNER_DIGEST = `
local function owner_digest() return string.match(tasks, '([%w_-]+):tasks$') end
`;

/**
 * Fragments that several scripts share. A task script gets all keys of the task, of its owner's indexes and of its subject's, always
 * in this order: they share a hash tag, so they live on one node of a cluster. Arguments: the time ("" for Redis's own), the calling
 * store, the task's id, then those of the operation. A missing column has its initial value: most tasks never have a queued
 * message, a webhook or a cancel request, and every write costs.
 */
export const TASK = `${CLOCK}
local columns, journal, heard, pushes, snapshot = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local tasks, idle, rows, kept = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local origin, id = ARGV[2], ARGV[3]
${OWNER_DIGEST}local function kept_name() return owner_digest() .. id end
-- A finished task is over at its own time, whether Redis has removed its keys by then or not.
local function is_over(gone) return gone and tonumber(gone) <= now end
local function ring() redis.call('PUBLISH', PREFIX .. ':w:' .. id, origin) end
`;

/**
 * Whether a webhook has pending entries. Its stored numbers: order, epoch, lease expiry, last delivered entry, failures, due
 * time, abandoned.
 */
export const PENDING = `
local function numbers_of(text)
  local order, epoch, held, told, failures, due, gave = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d)$')
  return { order = tonumber(order), epoch = tonumber(epoch), held = tonumber(held), told = tonumber(told),
    failures = tonumber(failures), due = tonumber(due), gave = gave == '1' }
end
local function is_pending(push, seq) return not push.gave and push.told < seq end
local function any_pending(seq)
  local all = redis.call('HGETALL', pushes)
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 2) == 's:' and is_pending(numbers_of(all[i + 1]), seq) then return true end
  end
  return false
end
`;

/** Writes a webhook back. One counter per task, so that no epoch is reused for an id that was deleted. */
export const PUSH_NUMBERS = `
local function next_number() return redis.call('HINCRBY', pushes, 'number', 1) + 1 end
local function keep_numbers(push_id, push)
  redis.call('HSET', pushes, 's:' .. push_id, string.format('%d %d %d %d %d %d %d', push.order, push.epoch, push.held,
    push.told, push.failures, push.due, push.gave and 1 or 0))
end
`;

/**
 * The indexes of an owner and of its subject. That of the subject is the order of eviction over all its tenants: finished tasks by their
 * expiry; then, after RESTING, interrupted ones; then, at RUNNING, those that stay. The idle index has the same scores for one owner.
 * Scores are integers, several per millisecond, so that tasks of one millisecond keep their order.
 */
export const INDEXES = `
local PLACES, RESTING, RUNNING = 64, 4e15, 8e15
-- In all tenants. Those that are over count no longer, though their names may still be there.
local function kept_count() return redis.call('ZCARD', kept) - redis.call('ZCOUNT', kept, '-inf', int(now * PLACES)) end
-- Of those that may be evicted, in the order of eviction.
local function oldest_kept(most)
  return redis.call('ZRANGEBYSCORE', kept, '(' .. int(now * PLACES), '(8e15', 'LIMIT', '0', int(most))
end
-- What is over has lost its own keys already; a few names go with every new task. The indexes of another tenant are not known here:
-- they are cleared when it is used again, or expire.
local function clear_over(most)
  local ended = int(now * PLACES)
  local over = redis.call('ZRANGEBYSCORE', idle, '-inf', ended, 'LIMIT', '0', most)
  if #over > 0 then
    redis.call('ZREM', idle, unpack(over))
    redis.call('ZREM', tasks, unpack(over))
    redis.call('HDEL', rows, unpack(over))
  end
  local names = redis.call('ZRANGEBYSCORE', kept, '-inf', ended, 'LIMIT', '0', most)
  if #names > 0 then redis.call('ZREM', kept, unpack(names)) end
end
-- An owner all of whose tasks have ended leaves nothing behind.
local function let_expire()
  local count = redis.call('ZCARD', tasks)
  if count == redis.call('ZCARD', idle) and count == redis.call('ZCOUNT', idle, '-inf', '(4e15') then
    for _, index in ipairs({ tasks, idle, rows }) do redis.call('PEXPIRE', index, EXPIRE_MS) end
  end
  if redis.call('ZCARD', kept) == redis.call('ZCOUNT', kept, '-inf', '(4e15') then redis.call('PEXPIRE', kept, EXPIRE_MS) end
end
`;

/** Ends a turn. */
export const IDLE = `${INDEXES}
local function to_idle(time, band)
  local score = int(band + time * PLACES + redis.call('ZCOUNT', kept, '-inf', '(8e15') % PLACES)
  redis.call('ZADD', idle, score, id)
  redis.call('ZADD', kept, score, kept_name())
end
local function to_running()
  redis.call('ZREM', idle, id)
  redis.call('ZADD', kept, int(RUNNING), kept_name())
end
local function rest() to_idle(now, RESTING) end
local function close(was_heard, has_pushes)
  to_idle(now + KEPT_TASKS_MS, 0)
  redis.call('PEXPIRE', columns, EXPIRE_MS)
  redis.call('PEXPIRE', journal, EXPIRE_MS)
  redis.call('PEXPIRE', snapshot, EXPIRE_MS)
  if was_heard then redis.call('PEXPIRE', heard, EXPIRE_MS) end
  if has_pushes then redis.call('PEXPIRE', pushes, EXPIRE_MS) end
  let_expire()
end
-- Newest first is lowest first here, so that tasks of one millisecond are ordered by id as the page tokens want it.
local function show_state(state, at, row)
  redis.call('ZADD', tasks, int(-at), id)
  redis.call('HSET', rows, id, state .. ' ' .. row)
end
`;

/** What a task is folded from: the newest snapshot that is not too new, and all that came behind it. */
export const MATERIAL = `
local function material(at)
  local kept = redis.call('HMGET', snapshot, 'seq', 'heard', 'task')
  local seq, said, task = 0, 0, ''
  if kept[1] and tonumber(kept[1]) <= at then seq, said, task = tonumber(kept[1]), tonumber(kept[2]), kept[3] end
  local entries = seq < at and redis.call('LRANGE', journal, seq, at - 1) or {}
  return { at, task, seq, said, entries, redis.call('LRANGE', heard, said, -1) }
end
`;

/** The message of the current turn: the last one that is not queued, with its number, or 0 and the task's first entry, which contains it. */
export const TURN_MESSAGE = `
local function waiting_in(queue)
  local _, count = string.gsub(queue or '', ',', ',')
  return count
end
local function turn_message(said, queue)
  local place = tonumber(said or 0) - waiting_in(queue) - 1
  if place < 0 then return { 0, redis.call('LINDEX', journal, 0) } end
  return { place + 1, redis.call('LINDEX', heard, int(place)) }
end
`;

/** An entry that the store writes by itself. Rare, so the context's id is put into JSON here. */
export const OWN_STATUS = `
local function own_status(context, state)
  return '{"kind":"status","taskId":' .. cjson.encode(id) .. ',"contextId":' .. cjson.encode(context)
    .. ',"status":{"state":"' .. state .. '","at":' .. int(now) .. '}}'
end
`;
