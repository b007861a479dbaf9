"""The check within Python, in one of lupa's Lua states: python spec/engines/lupa_host.py lua54"""
import importlib
import os
import sys

# Lua's own functions must be there for the module, which does not bring them; before lupa's module is loaded.
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
lupa = importlib.import_module("lupa." + sys.argv[1])

lupa.LuaRuntime().execute('dofile "spec/engines/check.lua"')
