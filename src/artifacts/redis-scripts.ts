/**
 * The scripts of artifacts in Redis: each is one step. A record is a hash, its tasks a set, its content strings of SEGMENT bytes. The
 * usage hash counts bytes, artifacts and uploads in progress of each caller, and all bytes. Arguments begin with the key prefix.
 */
const KEYS_OF = `
local prefix = ARGV[1]
local ends, usage = prefix .. ':ends', prefix .. ':usage'
local function record_of(id) return prefix .. ':r:' .. id end
local function tasks_of(id) return prefix .. ':t:' .. id end
local function segment_of(id, index) return prefix .. ':d:' .. id .. ':' .. string.format('%d', index) end
local function used(field) return tonumber(redis.call('HGET', usage, field) or 0) end
local function count(field, by)
  if by ~= 0 and redis.call('HINCRBY', usage, field, string.format('%d', by)) <= 0 then redis.call('HDEL', usage, field) end
end
local function full(subject, more, owner_limit, total_limit)
  if used('b:' .. subject) + more > owner_limit then return 'owner' end
  if used('total') + more > total_limit then return 'total' end
  return false
end
`;

/** Returns `made`, `there`, or the limit that is reached. */
export const CREATE = `${KEYS_OF}
local id, subject, upload = ARGV[2], ARGV[3], tonumber(ARGV[4])
local bytes, expires, facts, sha256, task = tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local artifact_limit, count_limit, upload_limit = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local record = record_of(id)
if redis.call('EXISTS', record) == 1 then return 'there' end
if bytes > artifact_limit then return 'artifact' end
if used('n:' .. subject) >= count_limit then return 'count' end
if upload == 1 and used('u:' .. subject) >= upload_limit then return 'uploads' end
local reason = full(subject, bytes, tonumber(ARGV[13]), tonumber(ARGV[14]))
if reason then return reason end
redis.call('HSET', record, 'facts', facts, 'subject', subject, 'upload', upload, 'bytes', ARGV[5], 'length', '0',
  'complete', '0', 'sha256', sha256, 'expires', expires)
redis.call('ZADD', ends, expires, id)
if task ~= '' then redis.call('SADD', tasks_of(id), task) end
count('n:' .. subject, 1)
count('u:' .. subject, upload)
count('b:' .. subject, bytes)
count('total', bytes)
return 'made'
`;

/** The fields of the record, then its tasks. */
export const GET = `${KEYS_OF}
local found = redis.call('HMGET', record_of(ARGV[2]), 'facts', 'bytes', 'length', 'complete', 'sha256', 'expires')
if not found[1] then return false end
return { found, redis.call('SMEMBERS', tasks_of(ARGV[2])) }
`;

/** Returns the length afterwards, or the limit that is reached. */
export const APPEND = `${KEYS_OF}
local id, offset, piece, grow, segment = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5] == '1', tonumber(ARGV[6])
local record = record_of(id)
local length = tonumber(redis.call('HGET', record, 'length') or -1)
if length ~= offset then return math.max(length, 0) end
if grow then
  local subject = redis.call('HGET', record, 'subject')
  if tonumber(redis.call('HGET', record, 'bytes')) + #piece > tonumber(ARGV[7]) then return 'artifact' end
  local reason = full(subject, #piece, tonumber(ARGV[8]), tonumber(ARGV[9]))
  if reason then return reason end
  redis.call('HINCRBY', record, 'bytes', #piece)
  count('b:' .. subject, #piece)
  count('total', #piece)
end
local at = 1
while at <= #piece do
  local room = segment - length % segment
  local part = string.sub(piece, at, at + room - 1)
  redis.call('APPEND', segment_of(id, math.floor(length / segment)), part)
  length = length + #part
  at = at + #part
end
redis.call('HSET', record, 'length', string.format('%d', length))
return length
`;

/** Returns 0 if the record is gone, or its tasks are too many. */
export const CHANGE = `${KEYS_OF}
local id, sha256, expires, task, most = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local record = record_of(id)
if redis.call('EXISTS', record) == 0 then return 0 end
if task ~= '' then
  local tasks = tasks_of(id)
  if redis.call('SISMEMBER', tasks, task) == 0 and redis.call('SCARD', tasks) >= most then return 0 end
  redis.call('SADD', tasks, task)
end
if sha256 ~= '' then
  if redis.call('HGET', record, 'upload') == '1' then
    count('u:' .. redis.call('HGET', record, 'subject'), -1)
    redis.call('HSET', record, 'upload', '0')
  end
  redis.call('HSET', record, 'sha256', sha256, 'complete', '1')
end
if expires ~= '' then
  redis.call('HSET', record, 'expires', expires)
  redis.call('ZADD', ends, expires, id)
end
return 1
`;

export const REMOVE = `${KEYS_OF}
local id, segment = ARGV[2], tonumber(ARGV[3])
local record = record_of(id)
redis.call('ZREM', ends, id)
local found = redis.call('HMGET', record, 'subject', 'upload', 'bytes', 'length')
if not found[1] then return 0 end
count('n:' .. found[1], -1)
count('u:' .. found[1], -tonumber(found[2]))
count('b:' .. found[1], -tonumber(found[3]))
count('total', -tonumber(found[3]))
for index = 0, math.floor(tonumber(found[4]) / segment) do redis.call('UNLINK', segment_of(id, index)) end
redis.call('DEL', record, tasks_of(id))
return 1
`;
