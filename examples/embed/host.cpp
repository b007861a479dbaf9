// A host in C++: handles that drop themselves, statuses that become exceptions, and a function for scripts whose
// exceptions become errors of Lua. No exception passes through Lua, and no error of Lua through a destructor. Linked
// with libgpureduce.a (make embed, build/lua5.4/host_cpp).
#include <lua.hpp>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpureduce.h"

extern "C" int luaopen_gpureduce(lua_State *);

static void check(gpureduce_status status) {
  if (status != GPUREDUCE_OK) throw std::runtime_error(gpureduce_error());
}

struct Drop {
  void operator()(gpureduce_array *a) const { gpureduce_drop(a); }
};
using Array = std::unique_ptr<gpureduce_array, Drop>;

// The memory goes with the array: the vector is deleted when nothing needs its elements any more.
static Array wrap(gpureduce_context *context, std::vector<double> elements) {
  auto owner = std::make_unique<std::vector<double>>(std::move(elements));
  gpureduce_memory memory = {};
  memory.size = sizeof memory;
  memory.dtype = GPUREDUCE_F64;
  memory.data = owner->data();
  memory.length = static_cast<int64_t>(owner->size());
  memory.release = [](void *user) { delete static_cast<std::vector<double> *>(user); };
  memory.user = owner.get();
  gpureduce_array *a = nullptr;
  check(gpureduce_wrap(context, &memory, &a));
  owner.release();
  return Array(a);
}

// energy(v): half the sum of squares, for scripts. Its errors are raised when all of its own is gone.
static int l_energy(lua_State *L) {
  const gpureduce_array *v = gpureduce_check(L, 1);
  char wrong[256] = "";
  double energy = 0;
  try {
    gpureduce_number squares;
    check(gpureduce_reduce("dot", v, v, nullptr, &squares));
    energy = squares.f / 2;
    if (energy > 1e6) throw std::range_error("the simulation has exploded: energy " + std::to_string(energy));
  } catch (const std::exception &e) {
    std::snprintf(wrong, sizeof wrong, "%s", e.what());
  }
  if (*wrong) return luaL_error(L, "%s", wrong);
  lua_pushnumber(L, energy);
  return 1;
}

int main() try {
  std::unique_ptr<lua_State, void (*)(lua_State *)> state(luaL_newstate(), lua_close);
  lua_State *L = state.get();
  luaL_openlibs(L);
  lua_pushcfunction(L, luaopen_gpureduce);
  lua_call(L, 0, 0);
  lua_register(L, "energy", l_energy);
  gpureduce_context *context = nullptr;
  check(gpureduce_of_state(L, &context));
  check(gpureduce_push(L, wrap(context, {3, 4, 12}).get()));
  lua_setglobal(L, "v");
  if (luaL_dostring(L, "print('energy', energy(v)) v = v * 1000 print(pcall(energy, v)) print(pcall(energy, 'v'))"))
    throw std::runtime_error(lua_tostring(L, -1));
  gpureduce_number sum;
  check(gpureduce_reduce("summ", wrap(context, {1}).get(), nullptr, nullptr, &sum));
} catch (const std::exception &e) {
  std::printf("caught: %.60s...\n", e.what());
}
