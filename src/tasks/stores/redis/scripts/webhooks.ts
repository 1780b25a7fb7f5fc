import { PENDING, PUSH_NUMBERS, TASK } from "./fragments.js";

/** Sets a webhook of a task: fields "s:id" numbers, "c:id" configuration, "e:id" the last problem. Arguments: id, configuration. */
export const SET_PUSH = `${TASK}${PENDING}${PUSH_NUMBERS}
local push_id, config = ARGV[4], ARGV[5]
local c = redis.call('HMGET', columns, 'seq', 'pushes', 'gone')
if not c[1] or is_over(c[3]) then return 'missing' end
local kept = redis.call('HGET', pushes, 's:' .. push_id)
if not kept and tonumber(c[2] or 0) >= PUSH_CONFIGS then return 'full' end
local push = kept and numbers_of(kept)
if push then
  -- Whoever tells it now has the old address.
  push.epoch, push.held, push.failures, push.due, push.gave = next_number(), 0, 0, 0, false
  redis.call('HDEL', pushes, 'e:' .. push_id)
else
  push = { order = next_number(), epoch = 0, held = 0, told = tonumber(c[1]), failures = 0, due = 0 }
  redis.call('HINCRBY', columns, 'pushes', 1)
end
keep_numbers(push_id, push)
redis.call('HSET', pushes, 'c:' .. push_id, config)
local left = redis.call('PTTL', columns)
if left >= 0 then redis.call('PEXPIRE', pushes, left) end
return 'stored'
`;

/** Argument: id. */
export const DELETE_PUSH = `${TASK}
local c = redis.call('HMGET', columns, 'seq', 'gone')
if not c[1] or is_over(c[2]) then return 0 end
local push_id = ARGV[4]
if redis.call('HDEL', pushes, 's:' .. push_id) == 1 then
  redis.call('HDEL', pushes, 'c:' .. push_id, 'e:' .. push_id)
  redis.call('HINCRBY', columns, 'pushes', -1)
end
return 1
`;

/** All webhooks of a task and the number of its last entry. */
export const PUSHES = `${TASK}
local c = redis.call('HMGET', columns, 'seq', 'gone')
if not c[1] or is_over(c[2]) then return false end
return { tonumber(c[1]), redis.call('HGETALL', pushes) }
`;

/** When to check a task's webhooks again: a time, or nothing if nothing is pending. */
const LOOK_AGAIN = `
local function look_again(seq, phase)
  local all, soonest = redis.call('HGETALL', pushes), nil
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 2) == 's:' then
      local push = numbers_of(all[i + 1])
      local time = math.max(push.held, push.due)
      if is_pending(push, seq) and (not soonest or time < soonest) then soonest = time end
    end
  end
  if soonest then return int(soonest) end
  return phase ~= 'end' and #all > 0 and int(now + IDLE_LOOK_MS) or ''
end
`;

/** Leases one due webhook, and returns when to check again. Argument: leaseMs. */
export const DUE_PUSH = `${TASK}${PENDING}${PUSH_NUMBERS}${LOOK_AGAIN}
local c = redis.call('HMGET', columns, 'seq', 'phase', 'owner', 'agent', 'gone')
if not c[1] or is_over(c[5]) then return { '' } end
local seq, all = tonumber(c[1]), redis.call('HGETALL', pushes)
local chosen, push
for i = 1, #all, 2 do
  if string.sub(all[i], 1, 2) == 's:' then
    local found = numbers_of(all[i + 1])
    local is_due = is_pending(found, seq) and found.due <= now and found.held <= now
    if is_due and (not push or found.order < push.order) then chosen, push = string.sub(all[i], 3), found end
  end
end
if not push then return { look_again(seq, c[2]) } end
push.epoch, push.held = next_number(), now + ARGV[4]
keep_numbers(chosen, push)
local kept = redis.call('HMGET', pushes, 's:' .. chosen, 'c:' .. chosen, 'e:' .. chosen)
return { look_again(seq, c[2]), c[3], c[4], seq, kept[1], kept[2], kept[3] or '', chosen }
`;

/** Records delivery progress. Arguments: id, epoch, outcome, number (seq or retryInMs), leaseMs, problem. */
export const RECORD_PUSH = `${TASK}${PENDING}${PUSH_NUMBERS}${LOOK_AGAIN}
local push_id, epoch, outcome, number, lease, problem = unpack(ARGV, 4, 9)
local c = redis.call('HMGET', columns, 'seq', 'phase', 'gone')
local kept = redis.call('HGET', pushes, 's:' .. push_id)
if not c[1] or is_over(c[3]) or not kept then return false end
local push = numbers_of(kept)
if push.epoch ~= tonumber(epoch) then return false end
push.held = 0
if outcome == 'accepted' then
  push.told, push.failures, push.held = tonumber(number), 0, now + lease
  redis.call('HDEL', pushes, 'e:' .. push_id)
elseif outcome ~= 'idle' then
  push.failures = push.failures + 1
  if outcome == 'failed' then push.due = now + number else push.gave = true end
  redis.call('HSET', pushes, 'e:' .. push_id, problem)
end
keep_numbers(push_id, push)
return { look_again(tonumber(c[1]), c[2]) }
`;
