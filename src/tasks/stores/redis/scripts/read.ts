import { CLOCK, MATERIAL, TASK } from "./fragments.js";

/** Entries and whether more can come, in one step. Arguments: after, limit. */
export const READ = `${TASK}
local c = redis.call('HMGET', columns, 'phase', 'gone')
if not c[1] or is_over(c[2]) then return false end
local after, limit = tonumber(ARGV[4]), tonumber(ARGV[5])
return { c[1] == 'end' and 1 or 0, limit > 0 and redis.call('LRANGE', journal, after, after + limit - 1) or {} }
`;

/** What the task is folded from, now or at an earlier entry. Argument: the entry, or "". */
export const SNAPSHOT = `${TASK}${MATERIAL}
local c = redis.call('HMGET', columns, 'seq', 'gone')
if not c[1] or is_over(c[2]) then return false end
local at = tonumber(ARGV[4]) or tonumber(c[1])
if at < 1 or at > tonumber(c[1]) then return false end
return material(at)
`;

/** Stores a snapshot next to its journal; an older one never replaces a newer. Arguments: seq, messages received, task. */
export const KEEP_SNAPSHOT = `${TASK}
local left = redis.call('PTTL', columns)
if left == -2 then return 0 end
if tonumber(redis.call('HGET', snapshot, 'seq') or 0) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', snapshot, 'seq', ARGV[4], 'heard', ARGV[5], 'task', ARGV[6])
if left >= 0 then redis.call('PEXPIRE', snapshot, left) end
return 1
`;

/**
 * The tasks of a page and their number, from the owner's small indexes alone. Keys: the three indexes. Arguments: time,
 * state, context, idempotency key, changed since, then time and id of the last task of the previous page, page size. A
 * filter begins with "=", or is "" if absent.
 */
export const LIST = `${CLOCK}
local tasks, idle, rows = KEYS[1], KEYS[2], KEYS[3]
local state, context, key, since, after_at, after_id, page_size = unpack(ARGV, 2, 8)
local STEP, PLACES = 2000, 64

repeat
  local over = redis.call('ZRANGEBYSCORE', idle, '-inf', '(' .. int((now + 1) * PLACES), 'LIMIT', 0, STEP)
  if #over > 0 then
    redis.call('ZREM', idle, unpack(over))
    redis.call('ZREM', tasks, unpack(over))
    redis.call('HDEL', rows, unpack(over))
  end
until #over == 0

-- Byte by byte: how Lua compares text depends on the machine's language.
local function is_behind(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x > y end
  end
  return #a > #b
end
-- A row is "state length:context=key". Plain comparing, cheapest first: this runs for every task of the owner.
local wanted_state = string.sub(state, 2) .. ' '
local wanted_context = (#context - 1) .. ':' .. string.sub(context, 2)
local function row_fits(row)
  if state ~= '' and string.sub(row, 1, #wanted_state) ~= wanted_state then return false end
  if key ~= '' and string.sub(row, -#key) ~= key then return false end
  if context == '' and key == '' then return true end
  local from = string.find(row, ' ', 1, true) + 1
  if context ~= '' and string.sub(row, from, from + #wanted_context - 1) ~= wanted_context then return false end
  if key == '' then return true end
  local colon = string.find(row, ':', from, true)
  return string.sub(row, colon + 1 + string.sub(row, from, colon - 1)) == key
end

local is_filtered = state ~= '' or context ~= '' or key ~= ''
local count = redis.call('ZCOUNT', tasks, '-inf', since == '' and '+inf' or -tonumber(since))

-- How many tasks come up to and with the last one of the page before, which may have moved or gone meanwhile.
local skipped = 0
if after_at ~= '' then
  local score = -tonumber(after_at)
  skipped = redis.call('ZCOUNT', tasks, '-inf', '(' .. string.format('%.17g', score))
  for _, tied in ipairs(redis.call('ZRANGEBYSCORE', tasks, score, score)) do
    if is_behind(tied, after_id) then break end
    skipped = skipped + 1
  end
end

local total, more, page = count, 0, {}
if not is_filtered then
  page = skipped < count and redis.call('ZRANGE', tasks, skipped, math.min(skipped + page_size, count) - 1) or {}
  if skipped + #page < count then more = 1 end
else
  total = 0
  for from = 0, count - 1, STEP do
    local ids = redis.call('ZRANGE', tasks, from, math.min(from + STEP, count) - 1)
    for i, row in ipairs(redis.call('HMGET', rows, unpack(ids))) do
      if row and row_fits(row) then
        total = total + 1
        local is_next = from + i > skipped
        if is_next and #page < tonumber(page_size) then page[#page + 1] = ids[i] elseif is_next then more = 1 end
      end
    end
  end
end
local last = #page > 0 and int(-redis.call('ZSCORE', tasks, page[#page])) or ''
return { total, more, last, unpack(page) }
`;
