/* Suggestions for a name that does not exist. */
#include <stdio.h>
#include <string.h>

#include "src/binding/hints.h"

/*
** Words of other libraries and languages. Where the name `ours` would be valid, `given` most probably means that; or
** `words` say what to write instead.
*/
static const struct {
  const char *given, *ours, *words;
} synonyms[] = {
    /* clang-format off */
  /* dtypes */
  {"float", "f32", NULL}, {"single", "f32", NULL}, {"real", "f32", NULL}, {"double", "f64", NULL},
  {"number", "f64", NULL}, {"half", "f16", NULL}, {"int", "i32", NULL}, {"integer", "i64", NULL},
  {"long", "i64", NULL}, {"short", "i16", NULL}, {"uint", "u32", NULL}, {"unsigned", "u32", NULL},
  {"ushort", "u16", NULL}, {"byte", "u8", NULL}, {"uchar", "u8", NULL}, {"char", "i8", NULL}, {"bool", "u8", NULL},
  {"boolean", "u8", NULL}, {"u64", "i64", "there is no u64: 'i64' has 63 bits and a sign"},
  {"uint64", "i64", "there is no u64: 'i64' has 63 bits and a sign"},
  /* reductions */
  {"range", "arange", "did you mean 'arange', or 'minmax' of an array?"},
  {"avg", "mean", NULL}, {"average", "mean", NULL}, {"add", "sum", NULL}, {"plus", "sum", NULL},
  {"total", "sum", NULL}, {"+", "sum", NULL}, {"cumsum", "scan", NULL}, {"cumsum", "sum", NULL},
  {"cumprod", "scan", "write a:scan \"prod\""}, {"mul", "prod", NULL},
  {"product", "prod", NULL}, {"times", "prod", NULL}, {"*", "prod", NULL}, {"cumprod", "prod", NULL},
  {"maximum", "max", NULL}, {"minimum", "min", NULL}, {"largest", "max", NULL}, {"smallest", "min", NULL},
  {"stddev", "std", NULL}, {"stdev", "std", NULL}, {"sd", "std", NULL}, {"variance", "var", NULL},
  {"range", "minmax", NULL}, {"and", "all", NULL}, {"or", "any", NULL}, {"inner", "dot", NULL},
  {"median", "sum", "write gr.median(a)"}, {"quantile", "sum", "write gr.quantile(a, q)"},
  {"norm", "sum", "write gr.norm(a)"}, {"histogram", "sum", "write gr.histogram(a, {...})"},
  /* options */
  {"range", "min", "did you mean 'min' and 'max'?"}, {"header", "offset", NULL}, {"skip", "offset", NULL},
  {"skip", "header", NULL}, {"mean", "stream", "write gr.randn(n) * deviation + mean"},
  {"std", "stream", "write gr.randn(n) * deviation + mean"},
  {"min", "stream", "write gr.rand(n) * (max - min) + min"},
  {"max", "stream", "write gr.rand(n) * (max - min) + min"}, {"out", "into", NULL}, {"type", "dtype", NULL},
  {"length", "n", NULL}, {"sep", "separator", NULL}, {"delimiter", "separator", NULL}, {"normed", "density", NULL},
  {"normalize", "density", NULL}, {"correction", "ddof", NULL}, {"dim", "axis", NULL},
  {"equal_nan", "nan_equal", NULL},
  /* fields and methods of arrays */
  {"T", "transpose", NULL}, {"size", "slice", "#a is its length"},
  {"length", "slice", "#a is its length"}, {"len", "slice", "#a is its length"}, {"n", "slice", "#a is its length"},
  {"astype", "cast", NULL}, {"to", "cast", NULL}, {"tolist", "table", NULL}, {"totable", "table", NULL},
  {"clip", "clamp", NULL},
  {"reshape", "matrix", NULL}, {"view", "matrix", NULL}, {"t", "transpose", NULL},
  {"cols", "column", "X.columns is how many there are"}, {"ncols", "column", "X.columns is how many there are"},
  {"nrows", "row", "X.rows is how many there are"}, {"ravel", "slice", "X:slice() is all of it as a vector"},
  {"flatten", "slice", "X:slice() is all of it as a vector"}, {"clone", "copy", NULL},
  {"gather", "take", NULL}, {"index_select", "take", NULL}, {"scatter", "put", NULL},
  {"masked_select", "compact", NULL}, {"isna", "isnan", NULL}, {"isnull", "isnan", NULL},
  {"nansum", "sum", "write a:sum { skipnan = true }"}, {"nanmean", "mean", "write a:mean { skipnan = true }"},
  {"nanvar", "var", "write a:var { skipnan = true }"}, {"nanstd", "std", "write a:std { skipnan = true }"},
  {"nanmin", "min", "write a:min { skipnan = true }"}, {"nanmax", "max", "write a:max { skipnan = true }"},
  {"nanmedian", "median", "write a:median { skipnan = true }"}, {"percentile", "quantile", NULL},
  {"fillna", "where", "write a:isnan():where(x, a)"}, {"dropna", "compact", "write a[a:compare(\"==\", a)]"},
  {"diff", "slice", "write a:slice(2) - a:slice(1, -2)"}, {"describe", "show", NULL}, {"head", "show", NULL},
  {"ptp", "minmax", NULL}, {"hist2d", "histogram2d", NULL},
  {"device", "slice", "write a:info().device"}, {"ndim", "slice", "#a.shape is how many dimensions it has"},
  {"asarray", "array", NULL}, {"tensor", "array", NULL}, {"from_numpy", "fromdlpack", NULL},
  {"empty", "zeros", NULL}, {"random", "rand", NULL}, {"normal", "randn", NULL}, {"uniform", "rand", NULL},
  {"concatenate", "copy", "write a:copy { into = c:slice(1, #a) }, and so on"},
  {"concat", "copy", "write a:copy { into = c:slice(1, #a) }, and so on"},
  {"cat", "copy", "write a:copy { into = c:slice(1, #a) }, and so on"},
  {"matmul", "dot", "there is no product of matrices"}, {"bmm", "dot", "there is no product of matrices"},
  {"ln", "log", NULL}, {"fabs", "abs", NULL}, {"ceiling", "ceil", NULL},
  {"greater", "compare", "write a:compare(\">\", b)"}, {"less", "compare", "write a:compare(\"<\", b)"},
  {"power", "pow", NULL}, {"subtract", "sub", NULL}, {"multiply", "mul", NULL}, {"divide", "div", NULL},
  {"absolute", "abs", NULL}, {"arctan2", "atan2", NULL}, {"logical_and", "land", NULL}, {"logical_or", "lor", NULL},
  {"sort", "slice", "there is no sort; a:quantile(shares) finds by rank"},
  {"argsort", "slice", "there is no sort; a:quantile(shares) finds by rank"},
  {"unique", "slice", "there is no unique; a:bincount() counts whole numbers"},
  {"nonzero", "slice", "write gr.arange(1, #mask, \"i64\"):compact(mask)"},
  {"item", "slice", "a[1] is a number of Lua"}, {"numpy", "slice", "write a:dlpack(), see docs/python.md"},
    /* clang-format on */
};

enum { LONGEST = 24 }; /* a longer word resembles no name, and its length need not fit an int */

/*
** Edit distance of two words of at most LONGEST, with neighbours that changed places as one edit (optimal string
** alignment).
*/
static int distance(const char *a, const char *b) {
  int d[LONGEST + 1][LONGEST + 1], la = (int)strlen(a), lb = (int)strlen(b);
  for (int i = 0; i <= la; i++) d[i][0] = i;
  for (int j = 0; j <= lb; j++) d[0][j] = j;
  for (int i = 1; i <= la; i++)
    for (int j = 1; j <= lb; j++) {
      int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
      if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  return d[la][lb];
}

static int among(const char *name, const char *const *names) {
  while (*names && strcmp(name, *names)) names++;
  return *names != NULL;
}

static const char *synonym(const char *given, const char *const *names, int words, char text[GR_HINT]) {
  text[0] = 0;
  for (size_t k = 0; k < sizeof synonyms / sizeof synonyms[0]; k++) {
    if (strcmp(given, synonyms[k].given) || !among(synonyms[k].ours, names)) continue;
    if (synonyms[k].words && !words) continue;
    if (synonyms[k].words) snprintf(text, GR_HINT, " (%s)", synonyms[k].words);
    else snprintf(text, GR_HINT, " (did you mean '%s'?)", synonyms[k].ours);
    break;
  }
  return text;
}

const char *gr_l_synonym(const char *given, const char *const *names, char text[GR_HINT]) {
  return synonym(given, names, 1, text);
}

static const char *near(const char *given, const char *const *names, char text[GR_HINT]) {
  const size_t length = strlen(given);
  int best = 3;
  for (const char *const *name = names; *name && length <= LONGEST; name++) {
    if (strlen(*name) > LONGEST) continue;
    int d = distance(given, *name);
    if (d >= best || d >= (int)length) continue;
    best = d;
    snprintf(text, GR_HINT, " (did you mean '%s'?)", *name);
  }
  return text;
}

const char *gr_l_hint(const char *given, const char *const *names, char text[GR_HINT]) {
  return *synonym(given, names, 1, text) ? text : near(given, names, text);
}

const char *gr_l_hint_name(const char *given, const char *const *names, char text[GR_HINT]) {
  return *synonym(given, names, 0, text) ? text : near(given, names, text);
}
