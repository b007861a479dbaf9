/* The table of options that may end the arguments. */
#ifndef GR_L_OPTIONS_H
#define GR_L_OPTIONS_H

#include "src/binding/args.h"

/*
** The options table at arg, or nothing; other keys than those of the list (NULL-ended, at most 30) are errors. Returns
** 0 if it is not there, else GR_OPTIONS and bit k for each name k that may be in it.
*/
#define GR_OPTIONS (1 << 30)
#define GR_OPTION_TEXT 64 /* room for a copy of an option that is a string */
/*
** The position of the options table: usually last, but optional arguments, from first on, may be left out before it.
*/
int gr_l_options_at(lua_State *L, int first, int last);
int gr_l_options_of(lua_State *L, int arg, const char *const *names);
/* Such a list is made anew by each call: small calls with more than a few names have one that stays. */
#define gr_l_options(L, arg, ...) gr_l_options_of(L, arg, (const char *const[]){__VA_ARGS__, NULL})
/* The same where only those names are options whose bits are among `allowed`. */
int gr_l_options_among(lua_State *L, int arg, const char *const *names, int allowed);
/* The first of those names that is an option given at arg, or NULL. */
const char *gr_l_first_of(lua_State *L, int arg, const char *const *names);
#define gr_l_first_given(L, arg, ...) gr_l_first_of(L, arg, (const char *const[]){__VA_ARGS__, NULL})
int gr_l_inherits(lua_State *L, int i); /* whether the metatable of the value at i has an __index */
/*
** The same, and 'into', the first of the names, where it is an array (else NULL), left on the stack: one look at the
** table, not two.
*/
int gr_l_options_into(lua_State *L, int arg, const char *const *names, gr_array **into);
int gr_l_option_int(lua_State *L, int arg, const char *name, int64_t *out);
int gr_l_option_number(lua_State *L, int arg, const char *name, double *out);
int gr_l_option_flag(lua_State *L, int arg, const char *name);
/* A copy, since a finalizer may take the string out of the table; NULL if it is not there. Longer ones are cut off. */
const char *gr_l_option_string(lua_State *L, int arg, const char *name, char text[GR_OPTION_TEXT]);
/* Which of a list (NULL ends it) the option is; -1 if it is not there. Of another string a failure says `what`. */
int gr_l_option_among(lua_State *L, int arg, const char *name, const char *const *list, const char *what);
/* Push the option, of whatever type; 0 and nothing if it is not there. */
int gr_l_push_option(lua_State *L, int arg, const char *name);
/* Whether the option is there at all. */
int gr_l_has_option(lua_State *L, int arg, const char *name);
/* Leaves the array on the stack when it is there; NULL (and nothing pushed) when not. */
gr_array *gr_l_option_array(lua_State *L, int arg, const char *name);
int64_t gr_l_option_rows(lua_State *L, int arg, int64_t n);
/* The option 'into': an array of that dtype and length that does not overlap a (if there is one) but
** for being a itself; left on the stack. NULL if not given. */
gr_array *gr_l_option_into(lua_State *L, int arg, gr_dtype, int64_t n, const gr_array *a);
gr_array *gr_l_check_into(lua_State *L, int arg, gr_array *into, gr_dtype, int64_t n, const gr_array *a);

/* The option 'into' is one of the inputs, the very same view, or shares nothing with it. */
void gr_l_check_apart(lua_State *L, int arg, const gr_array *into, const gr_array *a);
/* It shares nothing with what is read, whose name is what. Either may be NULL: there is none. */
void gr_l_check_disjoint(lua_State *L, int arg, const gr_array *into, const gr_array *read, const char *what);

/* The dtype named at arg, or by the option 'dtype' of the table at options; arg lies before that to count. */
gr_dtype gr_l_dtype(lua_State *L, int arg, int options, gr_dtype otherwise);
/* Its name, and in *at where it stands; NULL: not given. */
const char *gr_l_dtype_name(lua_State *L, int arg, int options, int *at, char text[GR_OPTION_TEXT]);
/* The same for functions whose arguments end with it: dtype, or {dtype=} and no other option. */
gr_dtype gr_l_last_dtype(lua_State *L, int arg);

#endif
