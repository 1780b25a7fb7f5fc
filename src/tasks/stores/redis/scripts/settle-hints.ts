/**
 * Moves hints, or removes them, unless somebody has written them anew since they were read. Keys: the index. Arguments, for
 * each: hint, the time it was read with, its new time or "".
 */
export const SETTLE_HINTS = `
local index = KEYS[1]
for i = 1, #ARGV, 3 do
  local hint, read, next = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local time = redis.call('ZSCORE', index, hint)
  if time and tonumber(time) == tonumber(read) then
    if next == '' then redis.call('ZREM', index, hint) else redis.call('ZADD', index, next, hint) end
  end
end
return 1
`;
