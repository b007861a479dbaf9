# luarocks passes on only such arguments as its rockspec can tell set from empty, and NVCC= says something. So where it
# runs make (ROCK=yes), these are read from its own command line: luarocks make gpureduce-scm-1.rockspec NVCC= V=1.

ROCK =
ifneq ($(ROCK),)
rock_names = NVCC CUDA_HOME CUDA_ARCHS V
rock_says = $(shell p=$$PPID; while [ "$${p:-0}" -gt 1 ]; do \
  if tr '\0' '\n' </proc/$$p/cmdline | grep -v = | grep -qx '\(.*/\)\?luarocks[-.0-9a-z]*'; then \
    tr '\0' '\n' </proc/$$p/cmdline | sed -n 's/^$(1)=/:/p'; break; fi; \
  p=$$(sed -n 's/^PPid:[^0-9]*//p' /proc/$$p/status); done)
$(foreach v,$(rock_names),$(if $(call rock_says,$(v)),$(eval $(v) := $(patsubst :%,%,$(call rock_says,$(v))))))
endif
