-- Builds of the module in which one tuning number is another, for bench/tuning.lua. What make would run is asked of
-- make, and from the files that say what each object was made from follows which objects a number is in. Of these only
-- those are compiled that the row's cells run, and of these only the dtypes; a copy of the tuning.h with the other
-- value comes first on the compiler's path. The other objects are those of the build that is there.
local cells = require "cells"

local M = {}

local function read(path)
  local f = io.open(path)
  if not f then return nil end
  local text = f:read "*a"
  f:close()
  return text
end

local function write(path, text)
  local f = assert(io.open(path, "w"))
  f:write(text)
  f:close()
end

local function plain(text) return (text:gsub("%p", "%%%0")) end
local function replace(text, old, new) return (text:gsub(plain(old), (new:gsub("%%", "%%%%")))) end

-- The text of a row's file with another value; nil and why, if the value does not stand there once.
function M.edit(row, value)
  local before = row.at or row[1] .. " = "
  local text, places = read(row.file), {}
  if not text then return nil, "no file " .. row.file end
  local from = 1
  while true do
    local start = text:find(before .. row[2], from, true)
    if not start then break end
    local at, stop = start + #before, start + #before + #row[2]
    local left, right = text:sub(start - 1, start - 1), text:sub(stop, stop)
    if not (left:match "[%w_]" and before:match "^[%w_]") and not right:match "[%w_]" then
      places[#places + 1] = { at, stop }
    end
    from = start + 1
  end
  local nth = row.nth or 1
  if #places ~= nth then
    return nil, ("'%s%s' stands %d times in %s"):format(before, row[2], #places, row.file)
  end
  return text:sub(1, places[nth][1] - 1) .. value .. text:sub(places[nth][2])
end

-- The commands by which make would build the module anew: { text, source, output, depends }.
function M.commands(make)
  local list, link = {}, nil
  local pipe = assert(io.popen(make .. " -B -n V=1 2>/dev/null"))
  local text = pipe:read("a"):gsub("\\\n", " ")
  pipe:close()
  for line in text:gmatch "[^\n]+" do
    local output = line:match " %-o ([^ ]+)" or line:match ">([^ ]+)$"
    local source = line:match "([^ ]+%.cu) %-o" or line:match "%-c ([^ ]+%.c) %-o"
    if line:find "mk/skeletons.lua" and output then source = "mk/skeletons.lua" end
    if line:find " %-shared " and output then
      link = { text = line, output = output }
    elseif source and output then
      list[#list + 1] = { text = line, source = source, output = output,
        depends = line:match "%-MF ([^ ]+)" and read(line:match "%-MF ([^ ]+)") or "" }
    end
  end
  assert(link, "make says no command that links the module")
  return list, link
end

-- What stands before a source that has too many instances: only those of some dtypes.
local only = [[
#include "kernels/cuda/thread/element.cuh"
constexpr bool gr_is_tried(gr_dtype t) { return %s; }
template <gr_dtype... of, class F>
static inline cudaError_t gr_for_tried(gr_dtype t, const F &f) {
  cudaError_t e = cudaErrorInvalidValue;
  auto one = [&](auto d) {
    if constexpr (gr_is_tried(decltype(d)::value)) e = f(d);
  };
  ((t == of ? one(std::integral_constant<gr_dtype, of>()) : (void)0), ...);
  return e;
}
]]
local around = {
  ["cuda/reduce/instances_"] = [[
#include "kernels/cuda/reduce/cols_few_rows.cuh"
#include "kernels/cuda/reduce/cols_flat.cuh"
#include "kernels/cuda/reduce/rows_staged.cuh"
#include "kernels/cuda/reduce/cols_variance_ring.cuh"
#include "kernels/cuda/reduce/cols_sum.cuh"
#include "kernels/cuda/reduce/rows_by_vector.cuh"
template <class R> constexpr bool gr_never = false;
%h
#include "kernels/cuda/reduce/instances.cuh"
template <bool tried, class R>
static gr_reduce_entry gr_entry_tried() {
  if constexpr (tried) return gr_entry_within<R, %f>();
  else return {};
}
#undef GR_AS
#define GR_AS(red, D, entry, as) \
  case GR_##D: return gr_entry_tried<(%s) && gr_is_tried(GR_##D), gr_reducer_for<GR_RED_##red, GR_##as>>();
]],
  ["cuda/histogram/instances_"] = [[
#include "kernels/cuda/histogram/start.cuh"
template <typename T> constexpr gr_dtype gr_dtype_as = std::is_same_v<T, float> ? GR_F32 : std::is_same_v<T, double>
  ? GR_F64 : std::is_same_v<T, int64_t> ? GR_I64 : std::is_same_v<T, int32_t> ? GR_I32 : GR_U32;
template <typename T> static cudaError_t gr_hist_tried(const gr_hist_plan *p, cudaStream_t stream) {
  if constexpr (gr_is_tried(gr_dtype_as<T>)) return gr_hist_launch<T>(p, stream);
  else return cudaErrorInvalidValue;
}
#define gr_hist_launch gr_hist_tried
]],
  ["cuda/scan/instances_"] = [[
#include "kernels/cuda/scan/start.cuh"
#define gr_for_dtype gr_for_tried
#define gr_for_float gr_for_tried<GR_F16, GR_BF16, GR_F32, GR_F64>
]],
  ["cuda/norm/softmax.cu"] = [[
#include "kernels/cuda/norm/softmax_rows.cuh"
#define gr_for_dtype gr_for_tried
]],
  ["cuda/norm/rmsnorm.cu"] = [[
#include "kernels/cuda/norm/rmsnorm_ring.cuh"
#define gr_for_dtype gr_for_tried
]],
}
local reducer_of = { sum = "SUM", prod = "PROD", max = "MINMAX", min = "MINMAX", argmax = "ARGMAX", var = "VARIANCE",
  dot = "DOT", mv = "DOT", cosine = "COSINE", norm = "SUMSQ", mse = "SQDIFF" }

-- Kernels that are not for cells of one kind, as far as they can be told to go.
local kinds = {
  rows = { "cols_few_rows", "cols_flat", "cols_variance_ring", "cols_sum" },
  cols = { "rows_staged", "rows_by_vector" },
}
local function hidden(row)
  local kind
  for _, c in ipairs(row.cells) do
    local this = c.axis == 1 and "cols" or c.axis == 2 and "rows" or "flat"
    if kind and this ~= kind then return "", "GR_ALL" end
    kind = this
  end
  local lines = {}
  for _, name in ipairs(kinds[kind] or {}) do
    lines[#lines + 1] = ("#define gr_has_%s gr_never"):format(name)
  end
  return table.concat(lines, "\n"), kind == "flat" and "GR_FLAT" or "GR_ALL"
end

local function reduced(source, row)
  for pattern, text in pairs(around) do
    if source:find(pattern, 1, true) then
      local dtypes, reducers = {}, {}
      for _, c in ipairs(row.cells) do
        local name = c.dtype:upper()
        dtypes["t == GR_" .. name] = true
        dtypes["t == GR_" .. name:gsub("^I(%d)", "U%1")] = name ~= "I64" or nil
        if name == "BF16" and pattern:find "norm" then dtypes["t == GR_F16"] = true end -- whose kernels do both
        reducers[("GR_RED_##red == GR_RED_%s"):format(reducer_of[c.op] or "SUM")] = true
      end
      local function any(set)
        local names = {}
        for name in pairs(set) do names[#names + 1] = name end
        table.sort(names)
        return table.concat(names, " || ")
      end
      local list, which = any(dtypes), any(reducers)
      if pattern:find "reduce" then
        local no, scope = hidden(row)
        text = replace(replace(replace(text, "%s", which), "%h", no), "%f", scope)
      end
      return only:format(list) .. text .. ('#include "%s"\n'):format(source)
    end
  end
end

-- Writes the script that builds a variant into its folder; nil and why, if there is nothing to build.
function M.prepare(row, value, folder, list, link)
  local edited, why = M.edit(row, value)
  if not edited then return nil, why end
  local lines, made, new, objects = { "set -e" }, {}, {}, 0
  os.execute(("mkdir -p '%s/%s'"):format(folder, row.file:match "^(.*)/"))
  write(folder .. "/" .. row.file, edited)
  local function felt(source)
    if source:find "^src/" then return true end
    for _, c in ipairs(row.cells) do
      for _, need in ipairs(cells.needs(c)) do
        if source:find(need, 1, true) then return true end
      end
    end
  end
  for _, c in ipairs(list) do
    local depends = c.depends:find(row.file, 1, true) and felt(c.source)
    for _, old in ipairs(made) do depends = depends or c.text:find(old, 1, true) end
    if depends then
      local to, text = folder .. "/" .. c.output, c.text
      for k, old in ipairs(made) do text = replace(text, old, new[k]) end
      text = text:gsub("%-MMD %-MP %-MF [^ ]+ ?", ""):gsub(" %-I%. ", " -I" .. folder .. " -I. ", 1)
        :gsub(" %-gencode arch=[^ ]+,code=compute_%d+", ""):gsub(" %-Xfatbin %-compress%-all", "")
        :gsub(" %-%-compress%-mode=size", "")
      text = replace(text, c.output, to)
      local instead = reduced(c.source, row)
      if instead then
        local path = folder .. "/" .. c.source:gsub("/", "_")
        write(path, instead)
        text = replace(text, " " .. c.source .. " ", " " .. path .. " ")
      end
      lines[#lines + 1] = ("mkdir -p '%s'"):format(to:match "^(.*)/")
      lines[#lines + 1] = text
      made[#made + 1], new[#new + 1], objects = c.output, to, objects + 1
    end
  end
  if objects == 0 then return nil, "no object has it" end
  local text = link.text
  for k, old in ipairs(made) do text = replace(text, " " .. old .. " ", " " .. new[k] .. " ") end
  lines[#lines + 1] = replace(text, " -o " .. link.output, " -o " .. folder .. "/gpureduce.so")
  write(folder .. "/build.sh", table.concat(lines, "\n") .. "\n")
  return objects
end

return M
