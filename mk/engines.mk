# make engines: every host of Lua that is installed here runs spec/engines/check.lua with the module. It is no part of
# other goals; CI runs it with the hosts of deps-engines and with lupa. make deps-engines: the hosts that Debian's
# packages bring in a minute (minetest-server and mame are two more; nginx's Lua module is not among them, since it
# replaces LuaJIT for all others).

.PHONY: engines deps-engines
deps-engines:
	$(apt) update
	$(apt) install -y --no-install-recommends love xvfb xauth neovim haproxy

# HOST | what says its version, and so that it is here | its Lua, or the program that is linked to it | how it runs |
# what a line of its output must be: "gpureduce in HOST: ok (" where nothing stands. The Lua of LÖVE, Neovim and Luanti
# is LuaJIT or has its ABI, 5.1's; others go with the Lua of their system.
define engine_rows
LÖVE | which xvfb-run && love --version | luajit | $(in_window) love spec/engines/love |
LÖVE's example | which xvfb-run && love --version | luajit | $(in_window) love examples/love 99 | ^99 frames, [1-9]
Neovim | nvim --version | luajit | nvim --headless -u NONE -i NONE -n -c "luafile spec/engines/check.lua" -c qa |
HAProxy | haproxy -v | linked haproxy | haproxy -db -f spec/engines/haproxy.cfg |
Luanti | minetestserver --version | luajit | spec/engines/luanti.sh $(BUILD)/engines/luanti |
MAME | mame -version | linked mame | $(mame) -autoboot_script spec/engines/mame.lua |
$(foreach l,5.1 5.2 5.3 5.4 5.5,$(call lupa_row,lua$(subst .,,$l),lua$l))
$(foreach l,20 21,$(call lupa_row,luajit$l,luajit))
C host, linked | test -x $(for_lua)/host_c && $(LUA) -v | $(lua_name) | $(for_lua)/host_c | ^host: 3 of 5 are
C host, loading | test -x $(for_lua)/host_module && $(LUA) -v | $(lua_name) | $(for_lua)/host_module | ^host: 3 of 5 are
C++ host | test -x $(for_lua)/host_cpp && $(LUA) -v | $(lua_name) | $(for_lua)/host_cpp | ^energy.84.5
endef
define lupa_row
lupa's $(1) | $(python) -c "import lupa.$(1); print('lupa', lupa.__version__)" | $(2) | $(lupa_host) $(1) |

endef
lupa_host = $(python) spec/engines/lupa_host.py
in_window = xvfb-run -a -s "-screen 0 800x600x24" env SDL_AUDIODRIVER=dummy LIBGL_ALWAYS_SOFTWARE=1
mame = env SDL_VIDEODRIVER=dummy mame pong -homepath $(BUILD)/engines/mame -cfg_directory $(BUILD)/engines/mame/cfg \
  -video none -sound none -nothrottle -skip_gameinfo -autoboot_delay 0 -seconds_to_run 60

files_of_engines = $(hosts)
engines: export rows = $(engine_rows)
engines: $(if $(filter engines,$(MAKECMDGOALS)),$(if $(no_host),,$(hosts)))
	@MAKE='$(MAKE)' mk/engines.sh $(BUILD)
