/*
** A call of the C API (include/gpureduce.h): it begins by checking who calls with what, runs the core, and ends with a
** status and a text. Each function of the API is such a call:
**
**   gr_capi q;
**   if (gr_capi_begin(&q, "scan", a)) ...        the checks that are its own, and the core
**   return gr_capi_end(&q);
**
** Checks answer 0 when they have refused; what is wrong is in q then.
*/
#ifndef GR_CAPI_H
#define GR_CAPI_H

#include "include/gpureduce.h"
#include "src/capi/handles.h"
#include "src/core/formula/present.h"
#include "src/core/wrap.h"

#define GR_CAPI_ARRAYS 8
#define GR_CAPI_LAZY 4
#define GR_CAPI_FRESH GR_OPERATOR_STATES

/* A handle. Values of Lua that are borrowed have no more than the array. */
struct gpureduce_array {
  gr_array array;   /* of an expression its dtype, length and context: no element of it is anywhere */
  gr_expression *e; /* NULL: an array */
};

/* An expression of the call, and where its elements go if they must be somewhere. */
typedef struct gr_capi_lazy {
  const gr_expression *e;
  gr_array elements;
} gr_capi_lazy;

typedef struct gr_capi {
  const char *name;
  gr_context *c; /* NULL: not known yet */
  gpureduce_status status;
  int entered, held;                      /* held: it has a reference of the context, which goes with its end */
  const gr_array *arrays[GR_CAPI_ARRAYS]; /* of the call: they leave a device that is lost */
  int count;
  gr_capi_lazy lazy[GR_CAPI_LAZY]; /* its expressions, too */
  int lazy_count;
  const gr_array *mask; /* says what is missing: results go elsewhere in any case */
  struct {
    gpureduce_array *made, **to;
  } fresh[GR_CAPI_FRESH]; /* new arrays: its end hands them over, or drops them if it failed */
  int fresh_count;
  gpureduce_options options;
} gr_capi;

/* Of this thread: what its last failure was. */
gpureduce_status gr_capi_fail(gpureduce_status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* The same as the status of q; returns 0, as a check that refuses. */
int gr_capi_refuse(gr_capi *q, gpureduce_status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The call is one of that context, or of the array's. */
int gr_capi_begin_with(gr_capi *, const char *name, gpureduce_context *);
int gr_capi_begin(gr_capi *, const char *name, const gpureduce_array *a);
/* The same where a may be an expression: gr_capi_operand or gr_capi_elements say what it is for the core. */
int gr_capi_begin_lazy(gr_capi *, const char *name, const gpureduce_array *a);
/* The same for handles that know their context, by a call that has been checked for them. */
int gr_capi_enter(gr_capi *, gr_context *);
/* The context stays until the call has ended, whatever ends in it: references are counted inside of calls alone. */
void gr_capi_hold(gr_capi *);
gpureduce_status gr_capi_end(gr_capi *);

/* A further array of the call, as `what` in errors. */
int gr_capi_takes(gr_capi *, const gpureduce_array *, const char *what);
int gr_capi_takes_lazy(gr_capi *, const gpureduce_array *, const char *what);
/* The expression that a handle is, or NULL. */
const gr_expression *gr_capi_expression(const gpureduce_array *);
/*
** A handle of the call's as an operand: an array, or an expression and where its elements may go, which ends with the
** call. r->a is NULL when that is refused. And its elements, which are made now; NULL when that fails.
*/
gr_reduced gr_capi_operand(gr_capi *, const gpureduce_array *);
/* The same of an expression that is in a list, or comes to its end, which has room. */
gr_reduced gr_capi_promised(gr_capi *, gr_capi_lazy *list, int *count, const gr_expression *);
const gr_array *gr_capi_elements(gr_capi *, const gpureduce_array *);
/* A pointer that must be there. */
int gr_capi_needs(gr_capi *, const void *, const char *what);
/* A struct of the caller's, whose size says its version. */
int gr_capi_sized(gr_capi *, const void *, size_t size, const char *what);
/* The same of one that has grown: `first` is its size at first. Copies it to `own`, whose new members are 0 then. */
int gr_capi_grown(gr_capi *, const void *, size_t first, void *own, size_t size, const char *what);
int gr_capi_dtype(gr_capi *, gpureduce_dtype);

/* What the core said becomes the status; it is run once more when that may help (gr_capi_again). */
void gr_capi_said(gr_capi *, gr_status);
int gr_capi_again(gr_capi *, gr_status);
#define GR_CAPI_TRY(q, call)                                               \
  do {                                                                     \
    gr_status status_ = (call);                                            \
    if (status_ != GR_OK && gr_capi_again((q), status_)) status_ = (call); \
    gr_capi_said((q), status_);                                            \
  } while (0)

/* What keeps its arguments in a struct of its own. What the struct is called is in `what`. */
#define GR_CAPI_FIRST(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

/*
** A new handle, of a released array, which goes to *out (NULL: nowhere) when the call ends well. NULL, with the status
** set, when there is no memory.
*/
gpureduce_array *gr_capi_fresh(gr_capi *, gpureduce_array **out);
void gr_capi_forget(gpureduce_array *);

/*
** Where results go: *out if it is an array, which must be as asked for, beside `beside` and apart from the arrays of
** the call (or with `in_place`, the same as one of them); else a new array. NULL when that is refused.
*/
gr_array *gr_capi_out(gr_capi *, gpureduce_array **out, const gr_array *beside, gr_dtype, int64_t n, int64_t rows,
                      int in_place);

/* Makes the context what a config says; for gr_context_new. Refuses with a text (gr_capi_fail) and a status. */
gpureduce_status gr_capi_check_config(const gpureduce_config *);
void gr_capi_configure(gr_context *, const gpureduce_config *);

/* An array of the host's memory into one that is released; of kept (or NULL) owner and release count, not memory's. */
gr_status gr_capi_wrap(gr_capi *, const gpureduce_memory *, const gr_wrapping *kept, gr_array *out);
int gr_capi_check_memory(gr_capi *, const gpureduce_memory *);

#endif
