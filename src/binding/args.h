/* Arguments: arrays, numbers and names, and the errors that say what is wrong with them. */
#ifndef GR_L_ARGS_H
#define GR_L_ARGS_H

#include "src/binding/hints.h"
#include "src/binding/state.h"
#include "src/core/array.h"

#define GR_ARRAY_NAME "gpureduce.array"
#define GR_TRANSPOSED_NAME "gpureduce.transposed"

/* "bad argument #2 to 'dot' (...)"; does not return. */
int gr_l_argerror(lua_State *L, int arg, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4), noreturn))
#endif
    ;

/*
** Raises the text on top of the stack at the line that called the module, however many of its Lua parts (chunks named
** gpureduce.<part>) lie between. A place in one of these at its beginning, or none, is replaced; other places stay.
*/
int gr_l_error_outside(lua_State *L, int has_place);

/* What the value at i is, in words: its type, or the name its metatable gives. */
const char *gr_l_kind(lua_State *L, int i);
gr_array *gr_l_test_array(lua_State *L, int i); /* NULL if it is none */
/* A transposed matrix bears another stamp, so that only who asks for it meets one: its struct is that of the matrix. */
#define GR_TRANSPOSED UINT64_C(0x9D39247E33776D41)
gr_array *gr_l_test_transposed(lua_State *L, int i);
gr_array *gr_l_test_any_array(lua_State *L, int i); /* either of the two */
gr_array *gr_l_check_any_array(lua_State *L, int arg);
/* The array at arg. The elements of a transposed matrix are put in order first, in an array that takes its place. */
gr_array *gr_l_check_array(lua_State *L, int arg);
/* b, at arg, has the dtype, the length and the device of a, the first argument. */
void gr_l_check_pair(lua_State *L, const gr_array *a, const gr_array *b, int arg);
/*
** The same, but b has n elements. of: what these are, in words, such as " (of a row)"; names: the letters of a and b in
** the reference.
*/
void gr_l_check_like(lua_State *L, const gr_array *a, const gr_array *b, int64_t n, const char *of, const char *names,
                     int arg);
/*
** After the loss of a device: arrays on the stack of which the host has all elements become the CPU's. Returns whether
** there was one; for an array that is gone the context's error says so.
*/
int gr_l_leave_lost(lua_State *L, gr_context *);
void gr_l_check_device(lua_State *L, const gr_array *a, const gr_array *b, int arg);

int gr_l_to_int64(lua_State *L, int i, int64_t *out); /* whole numbers only; 0 if it is not one */
int64_t gr_l_check_int(lua_State *L, int arg);
int64_t gr_l_check_length(lua_State *L, int arg); /* >= 0 */
double gr_l_check_number(lua_State *L, int arg);
/*
** The length of the table at i, which belongs to argument arg. A table can have any length without the elements (Lua
** may take any border for its end), so one longer than GR_MOST_LISTED raises. Below that, products of two lengths
** and their bytes fit 64 bits, and the length itself an int with room to spare.
*/
#define GR_MOST_LISTED ((int64_t)1 << 30)
int64_t gr_l_list_length(lua_State *L, int i, int arg);
int gr_l_is_dtype(lua_State *L, int arg); /* a string that names one */
const char *gr_l_dtype_hint(const char *given, char text[GR_HINT]);
/* The name at i, which belongs to argument arg; one with a NUL in it raises. */
const char *gr_l_word(lua_State *L, int i, int arg);
int gr_l_dtype_arg(lua_State *L, int arg, const char *name); /* the dtype called name, or an error */
gr_op gr_l_check_op(lua_State *L, int arg);                  /* of one input or two */

/*
** Positions i and j, negative from the end; 1 <= i, j <= n, or j == i - 1 for no element. low, high: their arguments.
*/
void gr_l_check_range(lua_State *L, int low, int high, int64_t n, int64_t *first, int64_t *count);

/* The object at i if its metatable is the one of that name, else NULL; and the same or an error. */
void *gr_l_test_object(lua_State *L, int i, const char *name);
void *gr_l_check_object(lua_State *L, int arg, const char *name);

#endif
