/*
** The project's kernels beside CUB and cuBLAS, as a Lua module for bench/versus.lua: both sides on the same buffers, on
** one stream, results to the same place, temporary storage given beforehand. Built by bench/peers/Makefile for the
** benchmark alone. Here is the module; what it measures is in versus_*.cuh.
*/
#include "bench/peers/versus_blas.cuh"
#include "bench/peers/versus_checks.cuh"
#include "bench/peers/versus_timing.cuh"
extern "C" {
#include <lauxlib.h>
#include <lua.h>
}

namespace {

std::string failure;
template <class F>
int guarded(lua_State *L, F f) {
  try {
    return f();
  } catch (const std::exception &e) {
    failure = e.what();
  }
  (void)cudaGetLastError();
  return luaL_error(L, "%s", failure.c_str());
}

char *on_device(int64_t bytes) {
  void *p;
  CHECK(cudaMalloc(&p, (size_t)bytes));
  return (char *)p;
}

void close_cell() {
  for (auto &c : contenders)
    for (auto &g : c.graphs) cudaGraphExecDestroy(g.second);
  contenders.clear();
}

void text(lua_State *L, const char *key, const std::string &value) {
  lua_pushlstring(L, value.data(), value.size());
  lua_setfield(L, -2, key);
}
void number(lua_State *L, const char *key, double value) {
  if (value == floor(value) && fabs(value) < 1e15) lua_pushinteger(L, (lua_Integer)value);
  else lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}

/* versus.open() -> what there is. */
int l_open(lua_State *L) {
  return guarded(L, [&] {
    int driver = 0;
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDriverGetVersion(&driver));
    chip = {0,
            properties.major,
            properties.minor,
            properties.multiProcessorCount,
            (int)properties.sharedMemPerBlockOptin,
            properties.l2CacheSize};
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    pool = on_device(2 * kInput);
    output = on_device(kOutput);
    reference = on_device(kOutput);
    room = on_device((int64_t)64 << 20);
    flushed = on_device(kFlush);
    work = {on_device(kScratch), (size_t)kScratch, nullptr, nullptr};
    chain = {on_device(kScratch), (size_t)kScratch, nullptr, nullptr};
    temporary = on_device(kTemporary);
    edges_room = on_device((int64_t)64 << 20);
    CHECK(cudaMemset(flushed, 0, kFlush));
    CHECK(cudaMemset(work.memory, 0, kScratch));
    CHECK(cudaMemset(chain.memory, 0, kScratch));
    CHECK(cudaMallocHost(&pinned, (size_t)64 << 20));
    CHECK(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped));
    CHECK(cudaDeviceSynchronize());
    open_blas();
    lua_newtable(L);
    text(L, "device", properties.name);
    number(L, "driver", driver);
    number(L, "toolkit", CUDART_VERSION);
    number(L, "cub", cub_toolkit_version());
#ifdef WITH_NEWEST
    number(L, "newest", cub_newest_version());
#endif
    number(L, "cublas", blas.version);
    number(L, "sms", chip.sms);
    number(L, "l2", chip.l2_bytes);
    return 1;
  });
}

std::string field(lua_State *L, const char *key, const char *otherwise) {
  lua_getfield(L, 1, key);
  std::string s = lua_isnil(L, -1) ? otherwise : lua_tostring(L, -1);
  lua_pop(L, 1);
  return s;
}
int64_t count(lua_State *L, const char *key) {
  lua_getfield(L, 1, key);
  int64_t n = lua_isnil(L, -1) ? 0 : (int64_t)lua_tonumber(L, -1);
  lua_pop(L, 1);
  return n;
}

int64_t result_count() {
  if (cell.op == "histogram") return cell.bins;
  if (cell.op == "scan" || cell.op == "rmsnorm") return cell.n;
  if (cell.rows) return cell.axis == 2 ? cell.rows : cell.cols;
  return 1;
}

void open_cell(lua_State *L) {
  cell = Cell();
  cell.op = field(L, "op", "sum");
  cell.data = field(L, "data", "normal");
  std::string dtype = field(L, "dtype", "f32");
  int t = 0;
  while (t < GR_DTYPE_COUNT && dtype != dtypes[t]) t++;
  if (t == GR_DTYPE_COUNT) throw std::runtime_error("unknown dtype " + dtype);
  cell.dtype = dtype;
  type = (gr_dtype)t;
  cell.n = count(L, "n");
  cell.rows = count(L, "rows");
  cell.cols = cell.rows ? cell.n / cell.rows : 0;
  cell.axis = (int)count(L, "axis");
  cell.bins = count(L, "bins");
  irregular = count(L, "irregular") != 0;
  resident = count(L, "resident") != 0;
  offset = count(L, "offset");
  cell.high = gr_is_float(type) ? 1.0 : (double)cell.bins;
  if (type == GR_U8 && cell.bins) cell.high = 256; /* 2 and 32 bins: of all the bytes */
  pitch = ((cell.n + offset) * sizes[t] + 255) / 256 * 256;
  slots = std::max<int64_t>(1, std::min<int64_t>(256, kRotate / pitch));
  if (slots * pitch > kInput) throw std::runtime_error("too large");
  shape = cell.op == "histogram" ? "counts"
          : cell.op == "scan"    ? "scan"
          : cell.op == "rmsnorm" ? "norm"
          : cell.rows            ? "sums"
                                 : "scalar";
  results = result_count();
  if (results * 8 > kOutput) throw std::runtime_error("too many results");
  result_bytes = shape == "scalar" ? 16 : std::min<int64_t>(results * 4, (int64_t)64 << 20);
  known = false;
}

/*
** versus.cell{op, dtype, n, rows, axis, bins, data, offset, irregular, resident, beside, bare} -> names of those who
** can, notes. beside: the project's reduction of that name on the same inputs, aligned, takes part under the name
** "beside"; bare: not 0, so do bare kernels, "moved" and "copied".
*/
int l_cell(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  return guarded(L, [&] {
    close_cell();
    open_cell(L);
    if (cell.bins) make_edges();
    Cell filling = cell;
    if (type == GR_U8 && cell.bins && cell.data == "uniform") filling.bins = 256;
    fill_pool(filling, slots * pitch + 256, pitch / sizes[type]);
    contenders.push_back(ours());
    for (const Part &p : parts) {
      if (cell.dtype != p.dtype) continue;
      add_cub("cub", p.toolkit(cell));
      if (p.newest) add_cub("cub-newest", p.newest(cell));
    }
    add_blas();
    const bool bares = count(L, "bare") != 0;
    if (bares) contenders.push_back(bare("moved", false));
    if (bares && (shape == "norm" || shape == "scan") && sizes[contenders[0].array] == sizes[type])
      contenders.push_back(bare("copied", true));
    std::string beside = field(L, "beside", "");
    if (beside != "") contenders.push_back(reduced("beside", beside, 0));
    lua_newtable(L);
    lua_newtable(L);
    for (size_t k = 0; k < contenders.size(); k++) {
      lua_pushstring(L, contenders[k].name.c_str());
      lua_rawseti(L, -3, (int)k + 1);
      text(L, contenders[k].name.c_str(), contenders[k].note);
    }
    return 2;
  });
}

Contender &named(lua_State *L, int arg) {
  std::string name = luaL_checkstring(L, arg);
  for (auto &c : contenders)
    if (c.name == name) return c;
  throw std::runtime_error("no contender " + name);
}

/* versus.error_of(name) -> how far from the reference. */
int l_error_of(lua_State *L) {
  return guarded(L, [&] {
    lua_pushnumber(L, error_of(named(L, 1)));
    return 1;
  });
}

/* versus.value(name) -> its numbers for the first input; of an array of results one weighted sum. */
int l_value(lua_State *L) {
  return guarded(L, [&] {
    Contender &c = named(L, 1);
    char host[512];
    c.call(0);
    CHECK(cudaStreamSynchronize(stream));
    if (shape != "scalar") {
      double sum;
      CHECK(cudaMemset(room, 0, 8));
      with_type(c.array, [&](auto *t) {
        weighted_sum<<<1024, 256>>>((const std::remove_pointer_t<decltype(t)> *)output, results, (double *)room);
      });
      CHECK(cudaMemcpy(&sum, room, 8, cudaMemcpyDeviceToHost));
      lua_pushnumber(L, sum);
      return 1;
    }
    CHECK(cudaMemcpy(host, output, sizeof host, cudaMemcpyDeviceToHost));
    for (auto &x : c.numbers)
      if (gr_is_float(x.dtype)) lua_pushnumber(L, number_at(host + x.at, x.dtype));
      else lua_pushinteger(L, (lua_Integer)integer_at(host + x.at, x.dtype));
    return (int)c.numbers.size();
  });
}

/* versus.time(view, name, calls) -> microseconds a call. */
int l_time(lua_State *L) {
  return guarded(L, [&] {
    static int64_t turn;
    std::string view = luaL_checkstring(L, 1);
    Contender &c = named(L, 2);
    int calls = (int)luaL_checkinteger(L, 3);
    lua_pushnumber(L, view == "graph"  ? graph_us(c, calls, turn)
                      : view == "host" ? host_us(c, calls, turn)
                                       : stream_us(c, calls, turn));
    return 1;
  });
}

int l_flush(lua_State *L) {
  return guarded(L, [&] {
    flush();
    return 0;
  });
}

/* versus.layout() -> where the inputs lie, for another process (bytes from the start of the pool). */
int l_layout(lua_State *L) {
  return guarded(L, [&] {
    cudaIpcMemHandle_t handle;
    std::string hex;
    lua_newtable(L);
    if (cudaIpcGetMemHandle(&handle, pool) == cudaSuccess) {
      for (unsigned char byte : handle.reserved) {
        char two[3];
        snprintf(two, sizeof two, "%02x", byte);
        hex += two;
      }
      text(L, "ipc", hex);
    } else {
      (void)cudaGetLastError();
    }
    number(L, "offset", (double)offset);
    number(L, "second", (double)kInput);
    number(L, "pitch", (double)pitch);
    number(L, "slots", (double)(resident ? 1 : slots));
    number(L, "low", cell.low);
    number(L, "high", cell.high);
    return 1;
  });
}

/* versus.bytes(input 1 or 2, length) -> that many bytes of it from its start. */
int l_bytes(lua_State *L) {
  return guarded(L, [&] {
    luaL_Buffer b;
    int64_t which = luaL_checkinteger(L, 1) - 1, bytes = luaL_checkinteger(L, 2);
    char *p = luaL_buffinitsize(L, &b, (size_t)bytes);
    CHECK(cudaMemcpy(p, pool + which * kInput, (size_t)bytes, cudaMemcpyDeviceToHost));
    luaL_pushresultsize(&b, (size_t)bytes);
    return 1;
  });
}

/* versus.edges() -> the edges of this cell, a table. */
int l_edges(lua_State *L) {
  lua_createtable(L, (int)edges.size(), 0);
  for (size_t k = 0; k < edges.size(); k++) {
    lua_pushnumber(L, edges[k]);
    lua_rawseti(L, -2, (int)k + 1);
  }
  return 1;
}

/* versus.empty(calls) -> microseconds from a launch to its mapped result, of a kernel that does nothing else. */
int l_empty(lua_State *L) {
  lua_pushnumber(L, empty_us((int)luaL_checkinteger(L, 1)));
  return 1;
}

/* versus.ceilings() -> GB/s of the fastest read of 4 GiB, and of a copy of 2 GiB (read and written). */
int l_ceilings(lua_State *L) {
  return guarded(L, [&] {
    double read = 0, copy = 0;
    float ms;
    filled.key = "";
    for (int round = 0; round < 6; round++)
      for (int blocks : {2, 4, 8, 16})
        for (int threads : {256, 512}) {
          int64_t bytes = (int64_t)4 << 30;
          CHECK(cudaEventRecord(before, stream));
          read_all<<<chip.sms * blocks, threads, 0, stream>>>((const float4 *)(pool + (round & 1) * bytes), bytes / 16,
                                                              (float *)room);
          CHECK(cudaEventRecord(after, stream));
          CHECK(cudaEventSynchronize(after));
          CHECK(cudaEventElapsedTime(&ms, before, after));
          if (round) read = std::max(read, (double)bytes / ms / 1e6);
        }
    for (int round = 0; round < 6; round++) {
      int64_t bytes = (int64_t)2 << 30;
      CHECK(cudaEventRecord(before, stream));
      CHECK(cudaMemcpyAsync(output, pool + (round & 1) * bytes, (size_t)bytes, cudaMemcpyDeviceToDevice, stream));
      CHECK(cudaEventRecord(after, stream));
      CHECK(cudaEventSynchronize(after));
      CHECK(cudaEventElapsedTime(&ms, before, after));
      if (round) copy = std::max(copy, 2.0 * (double)bytes / ms / 1e6);
    }
    lua_pushnumber(L, read);
    lua_pushnumber(L, copy);
    return 2;
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int luaopen_versus(lua_State *L) {
  static const luaL_Reg functions[] = {{"open", l_open},     {"cell", l_cell},         {"error_of", l_error_of},
                                       {"value", l_value},   {"time", l_time},         {"flush", l_flush},
                                       {"layout", l_layout}, {"bytes", l_bytes},       {"edges", l_edges},
                                       {"empty", l_empty},   {"ceilings", l_ceilings}, {nullptr, nullptr}};
  luaL_newlib(L, functions);
  return 1;
}
