/* Suggestions for a name that does not exist. */
#ifndef GR_L_HINTS_H
#define GR_L_HINTS_H

/*
** For a name that is not in the list, which ends with NULL: " (did you mean 'x'?)" if it is a synonym of one that is or
** resembles it, else "".
*/
#define GR_HINT 80
const char *gr_l_hint(const char *given, const char *const *names, char text[GR_HINT]);
/* The same for names that are not those of arrays' methods, of which some synonyms say how to write them. */
const char *gr_l_hint_name(const char *given, const char *const *names, char text[GR_HINT]);
/* The same by the table of synonyms alone, for names that a program may well ask for to see whether they are there. */
const char *gr_l_synonym(const char *given, const char *const *names, char text[GR_HINT]);

#endif
