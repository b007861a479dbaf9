# The Lua to build for: its version, its headers, and the folder of what is made for it alone.

lua_version := $(shell $(LUA) -e 'print(jit and "luajit" or _VERSION:match("%d.%d"))' 2>/dev/null)
lua_name = $(if $(filter luajit,$(lua_version)),luajit,lua$(lua_version))

# Nothing is made for a Lua that is not there; these goals need none.
no_lua = clean help deps deps-test deps-python deps-mpi deps-engines format format-check sets neon oracle reproducible
ifneq ($(filter-out $(no_lua),$(or $(MAKECMDGOALS),all)),)
ifeq ($(lua_version),)
$(error no Lua '$(LUA)' on PATH (LUA=... names another; make deps installs lua5.4))
endif
endif

# Headers in a folder with the version's name, else beside the interpreter, as where Lua was installed from source.
lua_places = $(if $(filter luajit,$(lua_version)),luajit-2.1,lua$(lua_version) lua-$(lua_version) lua/$(lua_version)) .
lua_prefix = $(patsubst %/bin/,%,$(dir $(shell command -v $(LUA))))
lua_header = $(firstword $(wildcard $(foreach d,$(lua_places),\
  $(foreach p,/usr/include /usr/local/include $(lua_prefix)/include,$(p)/$(d)/lua.h))))
lua_incdir = $(or $(strip $(LUA_INCDIR)),$(patsubst %/lua.h,%,$(lua_header)),\
  $(error no lua.h for Lua $(lua_version): install its headers (make deps-test), or say LUA_INCDIR=...))
