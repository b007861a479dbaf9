#!/bin/sh
# Does the compiler notice a table's row whose parts are missing? A copy of the sources gets one row more in each table,
# and each file named must then fail to compile, for the reason named: mk/check_tables.sh FOLDER-OF-LUA.H
set -eu
here=$(pwd)
closed="-Werror=switch -Werror=implicit-function-declaration" # as mk/flags.mk says
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r kernels src "$copy"
failed=0

compile() { # file
  ${CC:-cc} -std=c11 -D_DEFAULT_SOURCE -ffp-contract=off $closed -I. -I"$lua" -fsyntax-only "$1" 2>"$copy/errors"
}

# The row goes before the one that is named: table, that row, the new one, then the files, and a word of what is said.
lacks() {
  table=$1 before=$2 row=$3 word=$4
  shift 4
  sed "s/^  X($before,/  X($row) \\\\\\n&/" "$here/kernels/tables.h" >"$copy/kernels/tables.h"
  if cmp -s "$here/kernels/tables.h" "$copy/kernels/tables.h"; then echo "$table: no row '$before'"; failed=1; fi
  for file; do
    if (cd "$copy" && compile "$file"); then
      echo "$table: a row more, and $file compiles"; failed=1
    elif ! grep -q -- "$word" "$copy/errors"; then
      echo "$table: a row more, and $file says something else:"; head -3 "$copy/errors"; failed=1
    fi
  done
  cp "$here/kernels/tables.h" "$copy/kernels/tables.h"
}

lua=$1
lacks dtypes I64 "NEW, new, newer, int8_t, INT" "GR_NEW\|_new" \
  src/core/dtype.c kernels/cpu/reduce/reduce.c kernels/cpu/isa/set_generic.c kernels/cpu/map/map_base.c
lacks dtypes I64 "NEW, new, newer, int8_t, INT" "GR_DTYPE_COUNT == 11" \
  kernels/cpu/isa/set_generic.c kernels/cpu/map/map_base.c
lacks reducers VARIANCE "NEW, 1, TREE, TREE" "SPANS_NEW" kernels/cpu/isa/set_generic.c
lacks reducers VARIANCE "NEW, 1, TREE, TREE" "GR_RED_NEW" kernels/cpu/isa/set_generic.c
lacks accumulators ORDER "NEW, 2" "GR_ACC_NEW" kernels/cpu/reduce/reduce.c
lacks operations cosine "newer, SUM, F64, F64, ZERO, FUNCTION" "GR_OP_newer" \
  kernels/cpu/reduce/reduce.c src/core/future.c src/core/formula/present.c
lacks operations cosine "newer, SUM, F64, F64, ZERO, FUNCTION" "GR_OP_COUNT == 30" src/core/missing.c
lacks "element operators" log "newer, 1, WIDE, F64, gr_newer(x), x" "gr_newer" kernels/cpu/map/map_base.c
lacks "element operators" log "newer, 3, SAME, SAME, x, x" "l_newer" src/binding/map.c
exit $failed
