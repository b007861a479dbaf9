#!/bin/sh
# Does the oracle notice? Each line below is a deliberate fault in the exact sums: a file, what to replace (a sed
# expression), and a name. Every one must make spec/exact/oracle fail. Run from the root after make (some 90 s).
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
vectors=${1:-30000}
others=$(ls build/obj/kernels/cpu/*.o build/obj/kernels/cpu/*/*.o | grep -v '/exact[^/]*$')
survivors=0
total=0

mkdir -p "$work/src/core" "$work/kernels/cpu/exact" "$work/kernels/numerics"
build() { # compile the copies against the rest of the tree
  for f in kernels/cpu/exact/exact kernels/cpu/exact/exact_sets src/core/exact_round spec/exact/oracle; do
    source=$f.c
    [ -f "$work/$f.c" ] && source=$work/$f.c
    cc -O1 -w -std=c11 -D_DEFAULT_SOURCE -ffp-contract=off -I"$work" -I. -c "$source" -o "$work/$(basename $f).o" &
  done
  wait
  cc "$work"/*.o $others -o "$work/oracle" -lmpfr -lgmp -lm -lpthread
}

while IFS='|' read -r file name expression; do
  [ -n "$file" ] || continue
  total=$((total + 1))
  rm -f "$work"/*.o "$work"/oracle "$work"/*/*/*.* "$work"/*/*/*/*.*
  # What includes a changed header must be compiled from a copy beside it.
  for f in kernels/numerics/exact.h kernels/cpu/exact/exact.inc kernels/cpu/exact/exact.c kernels/cpu/exact/exact_sets.c src/core/exact_round.c; do
    cp "$f" "$work/$f"
  done
  sed -i "$expression" "$work/$file"
  if cmp -s "$file" "$work/$file"; then
    echo "NOT APPLIED: $name"
    survivors=$((survivors + 1))
    continue
  fi
  build || { echo "NOT BUILT: $name"; survivors=$((survivors + 1)); continue; }
  if timeout 60 "$work/oracle" "$vectors" 5 >"$work/log" 2>&1; then
    echo "SURVIVED: $name"
    survivors=$((survivors + 1))
  else
    echo "caught: $name: $(head -1 "$work/log" | cut -c 1-100)"
  fi
done <<'FAULTS'
src/core/exact_round.c|what lies below a tie is forgotten|s/(rest || (kept & 1))/(kept \& 1)/
src/core/exact_round.c|ties go up|s/(rest || (kept & 1))/1/
src/core/exact_round.c|ties go down|s/below == half && (rest || (kept & 1))/below == half \&\& rest/
src/core/exact_round.c|no overflow to infinity|s/if (bits > infinity) bits = infinity;//
src/core/exact_round.c|subnormals rounded as normal numbers|s/if (place < lowest) place = lowest;//
src/core/exact_round.c|half of the least number|s/drop <= 64 && (below/drop < 64 \&\& (below/
src/core/exact_round.c|negative sums off by one|s/uint64_t borrow = 1;/uint64_t borrow = 0;/
src/core/exact_round.c|root without its remainder|s/rest |= left != 0;//
src/core/exact_round.c|ratio without its remainder|s/q->cut = a->count != 0;//
src/core/exact_round.c|bits below the leading 64 forgotten|s/\*rest = a->cut;/*rest = a->cut; return m0(a, from);/;s/^static void shift_left/static void shift_left/;s/^\/\* 64 bits from bit/static uint64_t m0(const large *a, int from) { uint64_t m = 0; for (int k = 63; k >= 0; k--) m = m << 1 | (uint64_t)bit_at(a, from + k); return m; }\n&/
src/core/exact_round.c|ddof forgotten|s/(uint64_t)(n - ddof)/(uint64_t)n/
src/core/exact_round.c|zeros lose their sign|s/? -0.0 : 0.0;/? 0.0 : 0.0;/
src/core/exact_round.c|bytes without the upper sign|s/carry = v >> 32;\(.*\)$/carry = (int64_t)((uint64_t)v >> 32) \& 1;\1/
kernels/numerics/exact.h|carries come too late|s/GR_EXACT_ROOM (UINT32_C(1) << 29)/GR_EXACT_ROOM (UINT32_C(1) << 31)/
kernels/numerics/exact.h|carry drops the sign|s/carry = v >> 32;/carry = (int64_t)((uint64_t)v >> 32);/
kernels/numerics/exact.h|the highest limb does not move up|s/while (s->high < GR_EXACT_LIMBS/while (0 \&\& s->high < GR_EXACT_LIMBS/
kernels/numerics/exact.h|subnormals one exponent low|s/(field ? field : 1) - 1075/field - 1075/
kernels/numerics/exact.h|the sign of a product is that of one factor|s/(int64_t)(bx ^ by) >> 63/(int64_t)bx >> 63/
kernels/numerics/exact.h|a deposit loses its middle|s/(low >> 32) + (high & UINT32_MAX)/(high \& UINT32_MAX)/
kernels/numerics/exact.h|a product loses a carry|s/xh \* yh + (cross >> 32)/xh * yh/
kernels/numerics/exact.h|merging forgets the upper limbs|s/if (o->high > s->high) s->high = o->high;//
kernels/cpu/exact/exact_sets.c|one level too few|s/need = top - 51 <= bottom ? 1 : 1 + /need = top - 51 <= bottom ? 1 : /
kernels/cpu/exact/exact_sets.c|range of the lowest digit misjudged|s/digits = size == 4 ? 24 : 53/digits = size == 4 ? 23 : 52/
kernels/cpu/exact/exact_sets.c|products underflow|s/if (size == 8 \&\& bottom < -1074) return -1;//
kernels/cpu/exact/exact_sets.c|products and anchors overflow|s/if (top > 1020) return -1;//
kernels/cpu/exact/exact_sets.c|factors overflow when they are split|s/if (size == 8 \&\& (top > 990 || other > 990)) return -1;//
kernels/cpu/exact/exact_sets.c|infinities are added|s/if (top == last - bias || (y \&\& top_field(size, \*y) == last)) return -1;//
kernels/cpu/exact/exact_sets.c|grids below the least number|s/top - 51 - 52 \* l < -1074 ? -1074 : top - 51 - 52 \* l;/top - 51 - 52 * l;/
kernels/cpu/exact/exact.inc|errors of products miss a level|s/, A, sum, 1, count);/, A, sum, 2, count);/
kernels/cpu/exact/exact.inc|anchors counted once|s/2 \* n : n);/n : n);/
kernels/cpu/exact/exact.inc|magnitudes keep their sign|s/magnitudes ? INT64_MAX : -1/-1/
kernels/cpu/exact/exact.inc|the least is not looked for|s/least = V(extreme)(0, least, u - 1);/least = most;/
FAULTS
echo "$((total - survivors)) of $total faults caught"
[ $survivors = 0 ]
