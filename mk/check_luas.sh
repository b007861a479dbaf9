#!/usr/bin/env bash
# A module that was built for one Lua and is loaded by another says so: the loader, by the function that is missing, or
# the module. Lua 5.1 and LuaJIT take each other's. Usage: mk/check_luas.sh LUA..., each of them built for.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() { echo "luas: $*"; exit 1; }
loads() { env -u LUA_CPATH_5_2 -u LUA_CPATH_5_3 -u LUA_CPATH_5_4 -u LUA_CPATH_5_5 LUA_CPATH="$PWD/build/$1/?.so" \
  "$2" -e 'local ok, m = pcall(require, "gpureduce") print(ok and m.sum(m.ones(10)) == 10 and "loads" or m)' 2>&1; }

for built in "$@"; do
  for host in "$@"; do
    said=$(loads "$built" "$host")
    case "$built $host $said" in
      "$built $built loads" | "lua5.1 luajit loads" | "luajit lua5.1 loads") ;;
      "$built $built "*) fail "$built does not load its own: $said" ;;
      *"undefined symbol"* | *"this module is for Lua"*) ;;
      *) fail "the module for $built in $host: $said" ;;
    esac
  done
done

# The one pair that no loader refuses, the next Lua after 5.4, is played by a 5.4 that says it is 5.5.
cat >"$place/later.c" <<'C'
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
static lua_Number version = 504;
lua_Number lua_version(lua_State *L) { return (void)L, version; }
int main(void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  version = 505;
  if (luaL_dostring(L, "require 'gpureduce'")) puts(lua_tostring(L, -1));
  return 0;
}
C
if [ -e build/lua5.4/gpureduce.so ] &&
  ${CC:-cc} -rdynamic -I/usr/include/lua5.4 "$place/later.c" -o "$place/later" -llua5.4 2>/dev/null; then
  said=$(LUA_CPATH_5_4="$PWD/build/lua5.4/?.so" "$place/later")
  [[ $said == *"this module is for Lua 5.4, this is Lua 5.5"* ]] || fail "5.4's module in 5.5: $said"
else
  echo "luas: no library of Lua 5.4, so its module in Lua 5.5 is not tried"
fi
echo "luas: modules say which Lua they are for ($*)"
