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

# Faults by file: name|what sed does. A line that begins with two spaces goes on with the one before.
while IFS='|' read -r name expression; do
  [ -n "$name" ] || continue
  if [ "${name#= }" != "$name" ]; then file=${name#= }; continue; fi
  total=$((total + 1))
  rm -f "$work"/*.o "$work"/oracle "$work"/*/*/*.* "$work"/*/*/*/*.*
  # What includes a changed header must be compiled from a copy beside it.
  for f in kernels/numerics/exact.h kernels/cpu/exact/{exact.inc,exact.c,exact_sets.c} src/core/exact_round.c; do
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
done < <(sed -e ':a' -e '$!N' -e 's/\n  / /' -e ta -e P -e D <<'FAULTS'
= src/core/exact_round.c
what lies below a tie is forgotten|s/(rest || (kept & 1))/(kept \& 1)/
ties go up|s/(rest || (kept & 1))/1/
ties go down|s/below == half && (rest || (kept & 1))/below == half \&\& rest/
no overflow to infinity|s/if (bits > infinity) bits = infinity;//
subnormals rounded as normal numbers|s/if (place < lowest) place = lowest;//
half of the least number|s/drop <= 64 && (below/drop < 64 \&\& (below/
negative sums off by one|s/uint64_t borrow = 1;/uint64_t borrow = 0;/
root without its remainder|s/rest |= left != 0;//
ratio without its remainder|s/q->cut = a->count != 0;//
bits below the leading 64 forgotten|s/\*rest = a->cut;/*rest = a->cut; return m0(a, from);/;
  s/^static void shift_left/static void shift_left/;
  s/^\/\* 64 bits from bit/static uint64_t m0(const large *a, int from) {
  uint64_t m = 0; for (int k = 63; k >= 0; k--) m = m << 1 | (uint64_t)bit_at(a, from + k); return m; }\n&/
ddof forgotten|s/(uint64_t)(n - ddof)/(uint64_t)n/
zeros lose their sign|s/? -0.0 : 0.0;/? 0.0 : 0.0;/
bytes without the upper sign|s/carry = v >> 32;\(.*\)$/carry = (int64_t)((uint64_t)v >> 32) \& 1;\1/
= kernels/numerics/exact.h
carries come too late|s/GR_EXACT_ROOM (UINT32_C(1) << 29)/GR_EXACT_ROOM (UINT32_C(1) << 31)/
carry drops the sign|s/carry = v >> 32;/carry = (int64_t)((uint64_t)v >> 32);/
the highest limb does not move up|s/while (s->high < GR_EXACT_LIMBS/while (0 \&\& s->high < GR_EXACT_LIMBS/
subnormals one exponent low|s/(field ? field : 1) - 1075/field - 1075/
the sign of a product is that of one factor|s/(int64_t)(bx ^ by) >> 63/(int64_t)bx >> 63/
a deposit loses its middle|s/(low >> 32) + (high & UINT32_MAX)/(high \& UINT32_MAX)/
a product loses a carry|s/xh \* yh + (cross >> 32)/xh * yh/
merging forgets the upper limbs|s/if (o->high > s->high) s->high = o->high;//
= kernels/cpu/exact/exact_sets.c
one level too few|s/need = top - 51 <= bottom ? 1 : 1 + /need = top - 51 <= bottom ? 1 : /
range of the lowest digit misjudged|s/digits = size == 4 ? 24 : 53/digits = size == 4 ? 23 : 52/
products underflow|s/if (size == 8 \&\& bottom < -1074) return -1;//
products and anchors overflow|s/if (top > 1020) return -1;//
factors overflow when they are split|s/if (size == 8 \&\& (top > 990 || other > 990)) return -1;//
infinities are added|s/if (top == last - bias || (y \&\& top_field(size, \*y) == last)) return -1;//
grids below the least number|s/top - 51 - 52 \* l < -1074 ? -1074 : top - 51 - 52 \* l;/top - 51 - 52 * l;/
= kernels/cpu/exact/exact.inc
errors of products miss a level|s/, A, sum, 1, count);/, A, sum, 2, count);/
anchors counted once|s/2 \* n : n);/n : n);/
magnitudes keep their sign|s/magnitudes ? INT64_MAX : -1/-1/
the least is not looked for|s/least = V(extreme)(0, least, u - 1);/least = most;/
FAULTS
)
echo "$((total - survivors)) of $total faults caught"
[ $survivors = 0 ]
