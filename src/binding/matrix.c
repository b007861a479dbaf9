/* Matrices: arrays that know their rows; their rows and columns as views, and what is the same turned over. */
#include "src/binding/matrix.h"
#include "src/binding/expression.h"
#include "src/binding/options.h"
#include "src/binding/keeper.h"
#include "src/binding/missing.h"
#include "src/binding/parts.h"
#include "src/binding/rounding.h"
#include "src/core/map.h"
#include "src/core/matrix.h"

/* ---- transposed matrices ---- */

/*
** A transposed matrix is the one that it was made of, as that lies, under another stamp: what knows of it takes it as
** it is, and for all else it is put in order here, in its place on the stack.
*/
static gr_array *put_in_order(lua_State *L, int arg) {
  gr_context *c = gr_l_context(L);
  const gr_array *a = gr_l_test_transposed(L, arg);
  gr_array *out = gr_l_new_beside(L, c, a, a->dtype, a->n);
  if (gr_array_released(a)) gr_l_raise(L, c, GR_RELEASED, arg); /* by a finalizer, just now */
  GR_TRY(L, c, arg, gr_transpose(c, a, out));
  out->rows = gr_array_columns(a);
  lua_replace(L, arg);
  return out;
}

void gr_l_transposed_metatable(lua_State *L, gr_context *c) {
  const int arrays = lua_gettop(L);
  luaL_newmetatable(L, GR_OWN(transposed));
  lua_pushnil(L);
  while (lua_next(L, arrays)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, arrays + 1);
  }
  gr_l_hide_metatable(L, GR_OWN(transposed));
  lua_pop(L, 1);
  gr_l_state_of(c)->put_in_order = put_in_order;
}

gr_shape gr_l_option_shape(lua_State *L, int options, const gr_array *a) {
  int64_t axis = 2;
  gr_shape s = {.rows = gr_l_option_rows(L, options, a->n), .axis = 2};
  const int given = gr_l_option_int(L, options, "axis", &axis);
  if (!s.rows && given) s.rows = a->rows;
  if (axis != 1 && axis != 2)
    gr_l_argerror(L, options, "option 'axis': 1 (down the columns) or 2 (along the rows) expected, got %lld",
                  (long long)axis);
  s.axis = (int)axis;
  /* Of a matrix over ranks one may have nothing, and so no matrix that says how many columns there are. */
  if (!s.rows && given && a->n == 0 && gr_l_has_option(L, options, "comm")) s.rows = 1;
  return s;
}

void gr_l_refuse_without_rows(lua_State *L, int options, const gr_array *a) {
  const char *name = gr_l_first_given(L, options, "axis", "pairs", "keepdims");
  if (name) gr_l_argerror(L, options, "option '%s': only together with '%s'", name, a->rows ? "axis" : "rows");
}

int64_t gr_l_results(lua_State *L, int arg, int64_t vectors, int64_t count) {
  if (count && vectors > (INT64_MAX >> 5) / count)
    gr_l_argerror(L, arg, "%lld results of each of %lld rows or columns are too many", (long long)count,
                  (long long)vectors);
  return vectors * count;
}

void gr_l_keep_dimensions(gr_array *results, int axis) { results->rows = axis == 1 ? 1 : results->n; }

/* Over ranks a part lies transposed, too, that has one row or column alone, or nothing. */
static int is_turned(lua_State *L, int arg, int options, const gr_array *a) {
  int64_t axis = 0;
  if (gr_l_test_transposed(L, arg)) return 1;
  if (!gr_l_has_option(L, options, "comm")) return 0;
  return a->turned || (a->n == 0 && !a->rows && gr_l_option_int(L, options, "axis", &axis) && axis == 2);
}

int gr_l_reduces_transposed(lua_State *L, int arg, int options) {
  const gr_array *a = gr_l_test_any_array(L, arg);
  return a && !gr_array_released(a) && gr_l_has_option(L, options, "axis") && is_turned(L, arg, options, a) &&
         !gr_l_first_given(L, options, "rows", "segments", "kernel", "mask");
}

void gr_l_turn_shape(gr_shape *s, const gr_array *a) {
  s->axis = 3 - s->axis;
  if (s->rows && a->turned) s->rows = gr_array_columns(a);
}

void gr_l_check_ranked_axis(lua_State *L, int arg, int options) {
  const gr_array *a = gr_l_test_any_array(L, arg);
  if (!a || !(a->turned || gr_l_test_transposed(L, arg))) return;
  if (!lua_istable(L, options) || !gr_l_has_option(L, options, "comm")) return;
  if (!gr_l_has_option(L, options, "axis") || gr_l_has_option(L, options, "rows")) return;
  gr_l_argerror(
      L, options,
      "option 'comm': is not served together with 'axis'%s of a transposed matrix: reduce the matrix that was "
      "transposed, by its other axis",
      gr_l_has_option(L, options, "mask") ? " and 'mask'" : "");
}

void gr_l_mark_transposed(lua_State *L, gr_array *a) {
  a->stamp ^= GR_TRANSPOSED;
  luaL_getmetatable(L, GR_OWN(transposed));
  lua_setmetatable(L, -2);
}

static gr_array *check_matrix(lua_State *L) {
  gr_array *a = gr_l_check_any_array(L, 1);
  if (!a->rows) gr_l_argerror(L, 1, "matrix expected, got a vector (a:matrix(rows) makes one)");
  return a;
}

/* a:matrix(rows, columns), where columns only say what the length says: a view of the same elements, row by row. */
static int l_matrix(lua_State *L) {
  gr_array *a = gr_l_check_array(L, 1);
  const int64_t rows = gr_l_check_int(L, 2);
  if (rows < 1) gr_l_argerror(L, 2, "1 or more rows expected, got %lld", (long long)rows);
  if (a->n % rows) gr_l_argerror(L, 2, "%lld rows do not divide length %lld", (long long)rows, (long long)a->n);
  if (!lua_isnoneornil(L, 3) && gr_l_check_int(L, 3) != a->n / rows)
    gr_l_argerror(L, 3, "%lld rows of length %lld have %lld columns, got %s", (long long)rows, (long long)a->n,
                  (long long)(a->n / rows), lua_tostring(L, 3));
  gr_array *view = gr_l_push_array(L);
  a = gr_l_check_array(L, 1); /* a finalizer may have released it just now */
  gr_array_view(a, view, 0, 1, a->n);
  view->rows = rows;
  return 1;
}

/* X:transpose(): a view; of one row or one column it lies as any matrix does. */
static int l_transpose(lua_State *L) {
  check_matrix(L);
  gr_array *view = gr_l_push_array(L);
  const gr_array *a = check_matrix(L);
  const int64_t columns = gr_array_columns(a);
  gr_array_view(a, view, 0, 1, a->n);
  view->rows = a->rows;
  if (gr_l_test_transposed(L, 1)) return 1;
  if (columns == 1 || (a->rows == 1 && columns)) return view->turned = !a->turned, view->rows = columns, 1;
  gr_l_mark_transposed(L, view);
  return 1;
}

/* ---- rows and columns ---- */

/* X:row(i), X:column(j): a view of one; negative positions count from the end. */
static int push_line(lua_State *L, int column) {
  const gr_array *a = check_matrix(L);
  const int transposed = gr_l_test_transposed(L, 1) != NULL;
  const char *what = column ? "column" : "row";
  int64_t k = gr_l_check_int(L, 2);
  const int64_t count = column == transposed ? a->rows : gr_array_columns(a);
  if (k == 0 || k > count || k < -count)
    gr_l_argerror(L, 2, "%s from 1 to %lld expected, got %lld", what, (long long)count, (long long)k);
  if (k < 0) k += count + 1;
  gr_array *view = gr_l_push_array(L);
  a = check_matrix(L); /* a finalizer may have released it just now */
  if (column == transposed) gr_array_row(a, k - 1, view);
  else gr_array_column(a, k - 1, view);
  return 1;
}

/* gr.row(v), gr.column(v): the vector as one row, or one column, for all of what it meets in an operator. */
static int push_spread(lua_State *L, gr_spread spread) {
  gr_context *c = gr_l_context(L);
  const gr_array *a = gr_l_check_array(L, 1);
  const long long rows = a->rows, columns = gr_array_columns(a);
  if (spread != GR_ONE && rows > 1 && columns > 1)
    gr_l_argerror(L, 1, "vector expected, got a matrix of %lld x %lld (X:%s(k) is a view of one)", rows, columns,
                  gr_l_name(L));
  gr_expression *e = gr_l_push_expression(L, gr_expression_room((gr_parts){1, 0, 1}));
  GR_TRY(L, c, 1, gr_expression_spread(c, a, spread, e));
  return 1;
}

/* gr.scalar(a): the only element, for each of those that it meets in an operator. */
static int l_scalar(lua_State *L) { return push_spread(L, GR_ONE); }

static int l_line(lua_State *L) {
  const int column = (int)gr_l_number(L);
  return lua_isnoneornil(L, 2) ? push_spread(L, column ? GR_COLUMN : GR_ROW) : push_line(L, column);
}

/* ---- covariances ---- */

/* The option ddof, below the number of rows; those of a matrix, or the option. */
static double read_ddof(lua_State *L, int64_t rows) {
  double ddof = 0;
  if (gr_l_option_number(L, 2, "ddof", &ddof) && !(ddof < (double)rows))
    gr_l_argerror(L, 2, "option 'ddof': less than the rows, %lld, expected, got %.14g", (long long)rows, ddof);
  return ddof;
}

static int64_t check_rows(lua_State *L, const gr_array *a) {
  const int64_t rows = gr_l_option_rows(L, 2, a->n);
  if (!rows && !a->rows) gr_l_argerror(L, 1, "matrix expected, got a vector (a:matrix(rows) makes one)");
  return rows ? rows : a->rows;
}

/* gr.cov(X, {rows, skipnan, mask, ddof, into, out}), gr.corr(X, ...): a row and a column for each column. */
static int l_covariance(lua_State *L) {
  gr_context *c = gr_l_context(L);
  const int correlation = (int)gr_l_number(L);
  gr_array *a = gr_l_check_elements(L, 1);
  if (correlation) gr_l_options(L, 2, "into", "rows", "skipnan", "mask", "out");
  else gr_l_options(L, 2, "into", "rows", "skipnan", "mask", "out", "ddof");
  const int64_t rows = check_rows(L, a), columns = a->n / rows, n = gr_l_results(L, 1, columns, columns);
  const double ddof = read_ddof(L, rows);
  const gr_missing missing = gr_l_option_missing(L, 2, a);
  const gr_dtype t = gr_l_option_single(L, 2) ? GR_F32 : GR_F64;
  gr_array *into = gr_l_option_into(L, 2, t, n, a);
  gr_array *sums = gr_l_new_beside(L, c, a, GR_F64, n);
  if (columns) GR_TRY(L, c, 1, gr_covariance_present(c, a, rows, &missing, ddof, correlation, sums));
  gr_l_drop_elements(L, missing.mask);
  sums->rows = columns;
  if (!into && t == GR_F64) return 1;
  gr_array *out = into ? into : gr_l_new_like(L, c, sums, t);
  GR_TRY(L, c, 1, gr_cast(c, sums, out));
  gr_l_release(L, sums);
  if (into) lua_pop(L, 1);
  return 1;
}

const gr_function gr_matrix_functions[] = {
    {"cov", l_covariance, 0}, {"corr", l_covariance, 1}, {"matrix", l_matrix, 0}, {"transpose", l_transpose, 0},
    {"row", l_line, 0},       {"column", l_line, 1},     {"scalar", l_scalar, 0}, {NULL, NULL, 0}};
