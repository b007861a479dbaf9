/* What was meant by a name that is none. */
#ifndef GR_L_HINTS_H
#define GR_L_HINTS_H

/*
** What was meant by a name that is not among these: " (did you mean 'x'?)" for another word for one of them,
** or for the nearest, else "". The list ends with NULL.
*/
#define GR_HINT 80
const char *gr_l_hint(const char *given, const char *const *names, char text[GR_HINT]);

#endif
