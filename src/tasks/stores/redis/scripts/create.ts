import { IDLE, TASK } from "./fragments.js";

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

-- What is over has lost its own keys already; a few names go with every new task.
local over = redis.call('ZRANGEBYSCORE', idle, '-inf', int(now * PLACES), 'LIMIT', '0', '32')
local function forget()
  if #over == 0 then return end
  redis.call('ZREM', idle, unpack(over))
  redis.call('ZREM', tasks, unpack(over))
  redis.call('HDEL', rows, unpack(over))
end
-- In all tenants. The indexes of another tenant are not known here: they are cleared when it is used again, or expire.
local ended = int(now * PLACES)
local gone_names = redis.call('ZRANGEBYSCORE', kept, '-inf', ended, 'LIMIT', '0', '32')
if redis.call('ZCARD', kept) - redis.call('ZCOUNT', kept, '-inf', ended) >= KEPT_TASKS then
  local oldest = redis.call('ZRANGEBYSCORE', kept, '(' .. ended, '(8e15', 'LIMIT', '0', EVICTED_AT_ONCE)
  if #oldest == 0 then return { 'full' } end
  return { 'room', unpack(oldest) }
end

-- Redis refuses a script for want of memory at its first write only, and never after one that frees memory: so this one is first.
local row = #context .. ':' .. context .. (key_kept and '=' .. key or '')
redis.call('HSET', columns, 'owner', owner, 'agent', agent, 'context', context, 'row', row, 'state', state, 'phase', 'run',
  'seq', '1', 'epoch', '1', 'holder', holder, 'until', int(now + lease), 'turn', '1', 'bytes', bytes)
forget()
if #gone_names > 0 then redis.call('ZREM', kept, unpack(gone_names)) end
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
 * Removes a task and its key if its creator never learned that it was made: nobody runs it. Argument: the creator. Frees memory only,
 * so that it runs where memory is exhausted.
 */
export const WITHDRAW = `${TASK}
local key_kept, keys = KEYS[10], KEYS[11]
local c = redis.call('HMGET', columns, 'epoch', 'holder', 'seq')
if c[1] ~= '1' or c[2] ~= ARGV[4] or c[3] ~= '1' then return 0 end
redis.call('UNLINK', columns, journal, heard, pushes, snapshot)
redis.call('ZREM', tasks, id)
redis.call('ZREM', kept, kept_name())
redis.call('HDEL', rows, id)
if key_kept and string.match(redis.call('GET', key_kept) or '', '^%d+ %S* (.*)$') == id then
  redis.call('UNLINK', key_kept)
  redis.call('ZREM', keys, key_kept)
end
ring()
return 1
`;
