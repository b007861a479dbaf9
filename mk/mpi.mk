# make mpi: gpureduce/mpi.so for $(LUA), beside the module, where mpicc is. The module itself links no MPI.

.PHONY: mpi mpi-alone install-mpi deps-mpi
MPICC ?= mpicc
mpi_module = $(for_lua)/gpureduce/mpi.$(LIB_EXTENSION)
mpi_compile = OMPI_CC="$(CC)" MPICH_CC="$(CC)" $(MPICC) $(base)

# What is in its table goes by pointers, so nothing of the module is linked; on_exit must outlive the Lua state.
mpi_c = src/mpi/mpi.c src/mpi/nccl.c src/mpi/shared.c
$(mpi_module): $(mpi_c) src/mpi/nccl.h src/mpi/shared.h include/gpureduce_mpi.h src/binding/comm.h \
    src/core/ranks/comm.h src/binding/compat.h
	@mkdir -p $(@D)
	$(call step,$<) $(mpi_compile) -I$(lua_incdir) $(LIBFLAG) -Wl,-z,nodelete $(LDFLAGS) $(mpi_c) -o $@ -ldl

# A host that shares a communicator of its own (examples/embed/ranks.c), and what such hosts may try (spec/capi/mpi.c).
mpi_hosts = $(addprefix $(for_lua)/,host_mpi capi_mpi)
$(for_lua)/host_mpi: examples/embed/ranks.c
$(for_lua)/capi_mpi: spec/capi/mpi.c
$(mpi_hosts): include/gpureduce.h include/gpureduce_mpi.h
	$(call step,$@) OMPI_CC="$(CC)" MPICH_CC="$(CC)" $(MPICC) $(host_flags) -std=c11 $(LDFLAGS) -Wl,-E \
	  $(filter %.c,$^) -o $@ $(lua_library) -lm -ldl

# An MPI that fails, for a spec.
failing_mpi = $(for_lua)/failing_mpi.$(LIB_EXTENSION)
$(failing_mpi): spec/ranks/failing.c
	@mkdir -p $(@D)
	$(call step,$<) $(mpi_compile) $(LIBFLAG) $(LDFLAGS) $< -o $@ -ldl

# An NCCL that is none, for another, and an old one.
fake_nccl = $(addprefix $(for_lua)/fake_nccl,.$(LIB_EXTENSION) _old.$(LIB_EXTENSION))
$(fake_nccl): spec/ranks/nccl.c
	@mkdir -p $(@D)
	$(call step,$<) $(mpi_compile) $(LIBFLAG) $(LDFLAGS) $(if $(findstring _old,$@),-DOLD) $< -o $@

files_of_mpi = $(module) $(mpi_module) $(failing_mpi) $(fake_nccl) $(if $(no_host),,$(mpi_hosts))
mpi: $(if $(shell command -v $(MPICC)),$(files_of_mpi))
	@$(if $(shell command -v $(MPICC)),echo "$(mpi_module) by $$($(MPICC) --version | head -1)",\
	  echo "no mpicc: nothing is made (make deps-mpi installs OpenMPI)")

# What the rock gpureduce-mpi makes and installs.
mpi-alone: $(mpi_module)
install-mpi: $(mpi_module)
	install -d "$(DESTDIR)$(LIBDIR)/gpureduce"
	install -m 755 $(mpi_module) "$(DESTDIR)$(LIBDIR)/gpureduce/"

# Sums over RANKS ranks of this host beside MPI_Allreduce: wants a core for each, with nothing else to do.
RANKS = 2
ranks_peer = $(for_lua)/ranks_peer.$(LIB_EXTENSION)
.PHONY: bench-ranks
$(ranks_peer): bench/ranks_peer.c
	$(call step,$<) $(mpi_compile) -I$(lua_incdir) $(LIBFLAG) $(LDFLAGS) $< -o $@
bench-ranks: $(module) $(mpi_module) $(ranks_peer)
	@$(here) GPUREDUCE_THREADS=1 mpirun -n $(RANKS) --allow-run-as-root --oversubscribe $(LUA) bench/ranks.lua

# Histograms over RANKS ranks with a GPU each, beside NCCL's allreduce.
nccl_peer = $(for_lua)/nccl_peer.$(LIB_EXTENSION)
.PHONY: bench-ranks-nccl
$(nccl_peer): bench/nccl_peer.c src/mpi/nccl.c src/mpi/nccl.h
	$(call step,$<) $(mpi_compile) -I$(lua_incdir) -I$(toolkit_root)/include $(LIBFLAG) $(LDFLAGS) $(filter %.c,$^) -o $@ \
	  -L$(toolkit_root)/lib64 -lcudart -ldl
bench-ranks-nccl: $(module) $(mpi_module) $(nccl_peer)
	@$(here) mpirun -n $(RANKS) --allow-run-as-root --oversubscribe $(LUA) bench/ranks_nccl.lua
