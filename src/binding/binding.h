/*
** What the files of the binding share. Every function of the module is a closure with three upvalues: the
** context, its own name (for error texts, the same for f(a) and a:f()), and a number that the function may use.
** The order in each: check all arguments, push the userdata that will own the result, call the core, raise.
**
** Any allocation of Lua's (a userdata, a table, a string, even a name to look an option up by) may run finalizers of
** the script, and these may call anything: release an operand, write to it, change the options table. Hence four rules:
** - options are read raw, and a string out of them is copied (gr_l_option_string);
** - a checked array stays an array, but may be released: its storage is then gr_released, and the core says so;
** - bare pointers (gr_vec) and copies of an array's struct are made and used between two allocations, or held by a
**   view of one's own (gr_l_hold);
** - what was found in an array's elements (a count, a range) and what relies on it happen in one call of the core.
*/
#ifndef GR_BINDING_H
#define GR_BINDING_H

#include "src/binding/compat.h"
#include "src/core/array.h"
#include "src/core/ladder.h"

#define GR_ARRAY_NAME "gpureduce.array"
#define GR_HISTOGRAM_NAME "gpureduce.histogram"
#define GR_ACCUMULATOR_NAME "gpureduce.accumulator"

typedef struct gr_function {
  const char *name;
  lua_CFunction f;
  lua_Integer number;
} gr_function;

/* The context, in a userdata of its own; that is empty once the state is closing, when finalizers may still call. */
int gr_l_closed(lua_State *L);
static inline gr_context *gr_l_context(lua_State *L) {
  gr_context *c = *(gr_context **)lua_touserdata(L, lua_upvalueindex(1));
  if (!c) gr_l_closed(L);
  return c;
}
static inline const char *gr_l_name(lua_State *L) { return lua_tostring(L, lua_upvalueindex(2)); }
static inline lua_Integer gr_l_number(lua_State *L) { return lua_tointeger(L, lua_upvalueindex(3)); }

/* Add functions to the table on top of the stack; the list ends with a NULL name. */
void gr_l_register(lua_State *L, const gr_function *list);
/* The metatable of that name, in the registry: metamethods, and an __index of methods. Scripts do not get to see it. */
void gr_l_make_metatable(lua_State *L, const char *name, const gr_function *methods, const gr_function *meta);
/* Hides the metatable on top of the stack: getmetatable gives its name. */
void gr_l_hide_metatable(lua_State *L, const char *name);
/* The object at i if its metatable is the one of that name, else NULL; and the same or an error. */
void *gr_l_test_object(lua_State *L, int i, const char *name);
void *gr_l_check_object(lua_State *L, int arg, const char *name);

/* The functions of the module's parts. */
extern const gr_function gr_array_functions[], gr_make_functions[], gr_reduce_functions[], gr_histogram_functions[],
    gr_scan_functions[], gr_select_functions[], gr_map_functions[], gr_when_functions[], gr_wrap_functions[], gr_scope_functions[],
    gr_file_functions[], gr_safe_functions[],
    gr_device_functions[], gr_ladder_functions[], gr_exact_functions[];

/* Adds what the Lua part `calls` needs to the table on top of the stack (reduce.c). */
void gr_l_brief_parts(lua_State *L, gr_context *);
/* The same for the parts that read and write files (file.c). */
void gr_l_file_parts(lua_State *L);

/* Adds the operators to the metatable on top of the stack. */
void gr_l_map_metamethods(lua_State *L);

/* The metatable of arrays, whose methods are those of the module table on top of the stack. */
void gr_l_array_metatable(lua_State *L, gr_context *);
void gr_l_accumulator_metatable(lua_State *L); /* which have methods of their own */

/* ---- arguments (args.c) ---- */

/* "bad argument #2 to 'dot' (...)"; does not return. */
int gr_l_argerror(lua_State *L, int arg, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4), noreturn))
#endif
    ;

/*
** What was meant by a name that is not among these (hints.c): " (did you mean 'x'?)" for another word for one of them,
** or for the nearest, else "". The list ends with NULL.
*/
#define GR_HINT 80
const char *gr_l_hint(const char *given, const char *const *names, char text[GR_HINT]);
const char *gr_l_dtype_hint(const char *given, char text[GR_HINT]);

/* What the value at i is, in words: its type, or the name its metatable gives. */
const char *gr_l_kind(lua_State *L, int i);
gr_array *gr_l_test_array(lua_State *L, int i); /* NULL if it is none */
void gr_l_choose_secret(void); /* once a process */
extern uint64_t gr_l_secret;
static inline uint64_t gr_l_stamp(const gr_array *a) { return gr_l_secret ^ (uint64_t)(uintptr_t)a; }
gr_array *gr_l_check_array(lua_State *L, int arg);
/* b, at arg, has the dtype, the length and the device of a, the first argument. */
void gr_l_check_pair(lua_State *L, const gr_array *a, const gr_array *b, int arg);
/*
** b has n elements instead; of: what they are, in words, such as " (of a row)"; names: the letters of a and b in the
** reference.
*/
void gr_l_check_like(lua_State *L, const gr_array *a, const gr_array *b, int64_t n, const char *of, const char *names,
                     int arg);
void gr_l_check_device(lua_State *L, const gr_array *a, const gr_array *b, int arg);

int gr_l_to_int64(lua_State *L, int i, int64_t *out); /* whole numbers only; 0 if it is not one */
int64_t gr_l_check_int(lua_State *L, int arg);
int64_t gr_l_check_length(lua_State *L, int arg); /* >= 0 */
/*
** The length of the table at i, which came by arg. A table can claim any length up to the greatest integer without the
** elements (the border that # finds is anybody's to choose), so what is longer than GR_MOST_LISTED raises. Below it,
** products of two lengths and their bytes fit 64 bits, and the length itself an int with room for some more.
*/
#define GR_MOST_LISTED ((int64_t)1 << 30)
int64_t gr_l_list_length(lua_State *L, int i, int arg);
double gr_l_check_number(lua_State *L, int arg);
int gr_l_is_dtype(lua_State *L, int arg); /* a string that names one */
#define GR_OPTION_TEXT 64 /* room for a copy of an option that is a string */
/* The dtype named at arg, or by the option 'dtype' of the table at options; arg lies before that to count. */
gr_dtype gr_l_dtype(lua_State *L, int arg, int options, gr_dtype otherwise);
/* Its name, and in *at where it stands; NULL: not given. */
const char *gr_l_dtype_name(lua_State *L, int arg, int options, int *at, char text[GR_OPTION_TEXT]);
/* The same for functions whose arguments end with it: dtype, or {dtype=} and no other option. */
gr_dtype gr_l_last_dtype(lua_State *L, int arg);
int gr_l_dtype_arg(lua_State *L, int arg, const char *name); /* the dtype called name, or an error */
gr_op gr_l_check_op(lua_State *L, int arg); /* of one input or two */

/* Positions i, j with negatives from the end; 1 <= i, j <= n, or j == i - 1 for none. low, high: which arguments. */
void gr_l_check_range(lua_State *L, int low, int high, int64_t n, int64_t *first, int64_t *count);

/* ---- options ---- */

/*
** The options table at arg, or nothing; other keys than those of the list (NULL-ended, at most 30) are errors. Returns 0 if
** it is not there, else GR_OPTIONS and bit k for each name k that may be in it.
*/
#define GR_OPTIONS (1 << 30)
/*
** Where the options table is: optional arguments, from first on, may be left out before it, which else is at last. What
** lies before it was given in its place.
*/
int gr_l_options_at(lua_State *L, int first, int last);
int gr_l_options(lua_State *L, int arg, const char *const *names);
int gr_l_inherits(lua_State *L, int i); /* whether the metatable of the value at i has an __index */
/* The same, and 'into', the first of the names, where it is an array (else NULL), left on the stack: one look at the table, not two. */
int gr_l_options_into(lua_State *L, int arg, const char *const *names, gr_array **into);
int gr_l_option_int(lua_State *L, int arg, const char *name, int64_t *out);
int gr_l_option_number(lua_State *L, int arg, const char *name, double *out);
int gr_l_option_flag(lua_State *L, int arg, const char *name);
/* Copied, since a finalizer may take it out of the table; NULL if it is not there. What is longer is none of our names. */
const char *gr_l_option_string(lua_State *L, int arg, const char *name, char text[GR_OPTION_TEXT]);
/* Push the option, of whatever type; 0 and nothing if it is not there. */
int gr_l_push_option(lua_State *L, int arg, const char *name);
/* Whether the option is there at all. */
int gr_l_has_option(lua_State *L, int arg, const char *name);
/* The option 'out' of exact results: 1 for f32, 0 for f64, the default. */
int gr_l_option_single(lua_State *L, int arg);
/* Leaves the array on the stack when it is there; NULL (and nothing pushed) when not. */
gr_array *gr_l_option_array(lua_State *L, int arg, const char *name);
/* An array, or a table of numbers, which becomes an array of that dtype beside a; left on the stack. each: one of them, in words. */
gr_array *gr_l_option_numbers(lua_State *L, gr_context *c, int arg, const char *name, const gr_array *a,
                              gr_dtype, const char *each);
int64_t gr_l_option_rows(lua_State *L, int arg, int64_t n);
/* The option 'into': an array of that dtype and length that does not overlap a (if there is one) but
** for being a itself; left on the stack. NULL if not given. */
gr_array *gr_l_option_into(lua_State *L, int arg, gr_dtype, int64_t n, const gr_array *a);
gr_array *gr_l_check_into(lua_State *L, int arg, gr_array *into, gr_dtype, int64_t n, const gr_array *a);

/* The option 'into' is one of the inputs, the very same view, or shares nothing with it. */
void gr_l_check_apart(lua_State *L, int arg, const gr_array *into, const gr_array *a);

/* Options op and value (map.c): a mask of the elements that satisfy them, or a tally, on the stack; NULL if not given. */
gr_array *gr_l_predicate(lua_State *L, int options, const gr_array *a, gr_tally tally);

/* ---- what a host has taken away (safe.c): each raises if it has ---- */

void gr_l_needs_files(lua_State *L, const gr_context *, const char *name);
void gr_l_needs_pointers(lua_State *L, const gr_context *);
void gr_l_needs_process(lua_State *L, const gr_context *); /* settings of the whole process */

/* ---- being stopped (stop.c) ---- */

/* A new context: the hooks of its Lua state can stop it. */
void gr_l_can_stop(lua_State *L, gr_context *);

/* For loops of the binding's own, over n elements: every GR_L_LOOK of them a look, which raises when the call is to end. */
#define GR_L_LOOK 65536
typedef struct gr_l_watch {
  lua_State *L;
  gr_context *c;
  uint64_t before;
  int64_t began;
} gr_l_watch;
gr_l_watch gr_l_watch_for(lua_State *L, gr_context *, int64_t n);
void gr_l_look(const gr_l_watch *);

/* ---- the ladder (ladder.c) ---- */

int gr_l_asks_kernel(lua_State *L, int arg); /* whether the options at arg name one */
/* The options kernel, block and timed, checked for a, the first argument; info is NULL when none is asked for. */
gr_kernel_choice gr_l_option_kernel(lua_State *L, int arg, gr_taught, const gr_array *a);
/* Several runs may not write over their own input. */
void gr_l_check_timed_into(lua_State *L, int arg, const gr_kernel_choice *, const gr_array *a, const gr_array *into);
int gr_l_push_seconds(lua_State *L, const gr_kernel_choice *); /* when timed; how many values it pushed */

/* ---- values (values.c) ---- */

/* Store the Lua number at i as one element; NULL, or why it cannot be, in text. */
const char *gr_l_put(lua_State *L, int i, gr_dtype, void *p, char text[96]);
void gr_l_push_element(lua_State *L, gr_dtype, const void *p);
void gr_l_push_value(lua_State *L, const gr_value *, int k);
/* The number at arg as a value of that dtype, or an error that names the argument. */
gr_value gr_l_check_value(lua_State *L, int arg, gr_dtype);

/* An open scope will release the array on top of the stack (scope.c). */
void gr_l_note_array(lua_State *L, gr_context *);
/* What a:release() does. */
void gr_l_release(lua_State *L, gr_array *);
/* Release an array of wrapped memory, and what kept its owner (wrap.c). */
void gr_l_release_wrapped(lua_State *L, gr_array *);

/* ---- results and failures (results.c) ---- */

/* A released array with its metatable, on the stack: ready to own what the core makes. */
gr_array *gr_l_push_array(lua_State *L);
/* A view of all of a that nobody else knows of, on the stack: holds the data while Lua allocates. */
gr_array *gr_l_hold(lua_State *L, const gr_array *a);
/* n zeros; collects first when the budget says so. */
gr_array *gr_l_new_array(lua_State *L, gr_context *, gr_dtype, int64_t n);
/* The same on the device of a: what results of a are made with. */
gr_array *gr_l_new_beside(lua_State *L, gr_context *, const gr_array *a, gr_dtype, int64_t n);
void gr_l_reserve(lua_State *L, gr_context *, size_t bytes);

/* After GR_NO_MEMORY: collect garbage and empty the pool; the caller tries once more. */
void gr_l_reclaim(lua_State *L, gr_context *);
/* Raise what a failed core function said; arg: whose fault GR_BAD is. Does not return. */
int gr_l_raise(lua_State *L, gr_context *, gr_status, int arg);

/* A call into the core: meanwhile it is known who calls, should it take long (stop.h). */
static inline gr_status gr_l_called(gr_context *c, gr_status status) {
  c->stop.caller = NULL;
  c->stop.known = 0;
  return status;
}
#define GR_CALL(L, c, call) ((c)->stop.caller = (L), gr_l_called(c, call))

#define GR_TRY(L, c, arg, call)               \
  do {                                        \
    gr_context *c_ = (c);                     \
    gr_status status_ = GR_CALL(L, c_, call); \
    if (status_ == GR_NO_MEMORY) {            \
      gr_l_reclaim(L, c_);                    \
      status_ = GR_CALL(L, c_, call);         \
    }                                         \
    if (status_ != GR_OK) gr_l_raise(L, c_, status_, arg); \
  } while (0)

#endif
