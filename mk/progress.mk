# All cores, one short line a file, the whole commands with V=1.

cores := $(shell nproc 2>/dev/null || echo 2)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(cores)
endif

# $(call step,what) begins the command that makes a file: "[12/57] what". How many there will be a dry run says, which
# the first step starts, so that a run without steps counts nothing.
counting =
ifneq ($(counting),)
step = : counted;
else ifneq ($(filter-out 0,$(V)),)
step =
else
step = @$(eval taken += x)printf '[%s/%s] %s\n' $(words $(taken)) $(total) '$(1)';
endif
taken =
total = $(eval total := $(shell MAKEFLAGS= MAKELEVEL=1 $(MAKE) -n $(MAKEOVERRIDES) counting=1 $(wanted) 2>/dev/null | \
  grep -c '^: counted'))$(total)
wanted = $(sort $(foreach g,$(or $(MAKECMDGOALS),all),$(or $(files_of_$(g)),$(if $(findstring /,$(g)),$(g)),$(module))))
