/*
** What a formula's first use costs the driver's compiler, without a GPU: ptxas of the same PTX, in turns, the
** processor's time of each. From the root, with a toolkit:
**   make build/bench/compile && build/bench/compile write DIR && build/bench/compile time ROUNDS DIR [OTHER...]
** write: PTX of some formulas into DIR, one file each; every (`make filled`): besides, of each reducer's skeletons of
** each dtype, so that all can be compiled: where one cannot, a GPU goes on step by step. time: of every file of these
** folders (another tree's beside this one's) ms of ptxas, the least and the median; "empty" is what ptxas takes for
** nothing. PTXAS names it, ARCH is sm_90.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/cuda/launch.h"
#include "src/backend/jit/code.h"
#include "src/backend/jit/shipped.h"

static gr_jit_code code;

static int add(gr_node x) {
  code.nodes[code.count] = x;
  return code.count++;
}
static int input(int k) {
  code.way[k] = GR_JIT_WORDS_OF_16;
  code.inputs = (int16_t)(k + 1);
  return add((gr_node){.kind = GR_NODE_INPUT, .dtype = GR_F32, .input = (uint8_t)k, .a = -1, .b = -1, .c = -1});
}
static int step(gr_map op, int a, int b) {
  return add((gr_node){.kind = GR_NODE_STEP, .dtype = GR_F32, .from = GR_F32, .op = (uint8_t)op, .a = (int16_t)a,
                       .b = (int16_t)b, .c = -1});
}
static int number(void) { return ~code.numbers++; }

/* sqrt(a*a + b*b) * 0.5 + a; abs(a - b) / (abs(b) + 1); a*a + 1 */
static int root(void) {
  const int a = input(0), b = input(1);
  const int squares = step(GR_MAP_add, step(GR_MAP_square, a, -1), step(GR_MAP_square, b, -1));
  return step(GR_MAP_add, step(GR_MAP_mul, step(GR_MAP_sqrt, squares, -1), number()), a);
}
static int quotient(void) {
  const int a = input(0), b = input(1), above = step(GR_MAP_abs, step(GR_MAP_sub, a, b), -1);
  return step(GR_MAP_div, above, step(GR_MAP_add, step(GR_MAP_abs, b, -1), number()));
}
static int square(void) { return step(GR_MAP_add, step(GR_MAP_square, input(0), -1), number()); }

/* (a - row(b))^2, whose columns are whole words, or not */
static int spread(int wide) {
  const int a = input(0), b = input(1);
  code.nodes[b].spread = GR_ROW;
  code.matrix = 1;
  code.wide = (uint8_t)wide;
  return step(GR_MAP_square, step(GR_MAP_sub, a, b), -1);
}
static int wide(void) { return spread(1); }
static int narrow(void) { return spread(0); }

/* A variance with a mask (core/formula/present.c): of a, but NaN where the bytes b are 0, infinite where it is NaN. */
static int masked(void) {
  const int a = input(0), b = input(1);
  code.nodes[b].dtype = GR_U8;
  const int is_number = add((gr_node){.kind = GR_NODE_STEP, .dtype = GR_U8, .from = GR_F32, .op = GR_MAP_compare,
                                      .relation = GR_IS_eq, .a = (int16_t)a, .b = (int16_t)a, .c = -1});
  const int numbers = step(GR_MAP_where, a, number());
  code.nodes[numbers].c = (int16_t)is_number;
  const int present = step(GR_MAP_where, numbers, number());
  code.nodes[present].c = (int16_t)b;
  return present;
}

static const struct asked {
  const char *name;
  int (*formula)(void);
  int reducer, variant, number;
  gr_cuda_present present;
  int tallied;
} all[] = {
    {"sum_square", square, GR_RED_SUM, 0, 1, GR_PRESENT_NONE, 0},
    {"sum_root", root, GR_RED_SUM, 0, 1, GR_PRESENT_NONE, 0},
    {"sum_wide", wide, GR_RED_SUM, 0, 1, GR_PRESENT_NONE, 0},
    {"sum_narrow", narrow, GR_RED_SUM, 0, 1, GR_PRESENT_NONE, 0},
    {"max_quotient", quotient, GR_RED_MINMAX, 0, 1, GR_PRESENT_NONE, 0},
    {"all_root", root, GR_JIT_BOTH, 0, 1, GR_PRESENT_NONE, 0},
    {"present_sum", square, GR_RED_SUM, 0, 1, GR_PRESENT_leaves, 0},
    {"present_mean", square, GR_RED_SUM, 0, 1, GR_PRESENT_leaves, 1},
    {"present_mse", square, GR_RED_SQDIFF, 0, 1, GR_PRESENT_leaves, 1},
    {"present_dot", square, GR_RED_DOT, 0, 1, GR_PRESENT_leaves, 0},
    {"present_norm", square, GR_RED_SUMSQ, 0, 1, GR_PRESENT_leaves, 0},
    {"present_max", square, GR_RED_MINMAX, 0, 1, GR_PRESENT_leaves, 0},
    {"present_argmax", square, GR_RED_ARGMAX, 0, 1, GR_PRESENT_leaves, 0},
    {"variance_square", square, GR_RED_PRESENT, 0, 1, GR_PRESENT_NONE, 0},
    {"variance_masked", masked, GR_RED_PRESENT, 0, 1, GR_PRESENT_NONE, 0},
    {"rows_root", root, GR_RED_SUM, 0, 0, GR_PRESENT_NONE, 0},
    {"rows_variance", square, GR_RED_PRESENT, 0, 0, GR_PRESENT_NONE, 0},
    {"columns_square", square, GR_JIT_COLUMNS_SUM, 0, 0, GR_PRESENT_NONE, 0},
    {"histogram_even32", square, GR_JIT_HISTOGRAM, 0, 0, GR_PRESENT_NONE, 0},
    {"histogram_even64", square, GR_JIT_HISTOGRAM, 1, 0, GR_PRESENT_NONE, 0},
    {"histogram_edges", square, GR_JIT_HISTOGRAM, 2, 0, GR_PRESENT_NONE, 0},
    {"histogram_many", square, GR_JIT_HISTOGRAM, 3, 0, GR_PRESENT_NONE, 0},
    {"scan_short_sum", square, GR_JIT_SCAN, 0, 0, GR_PRESENT_NONE, 0},
    {"scan_long_sum", square, GR_JIT_SCAN, 3, 0, GR_PRESENT_NONE, 0},
    {"scan_long_order", square, GR_JIT_SCAN, 5, 0, GR_PRESENT_NONE, 0},
};

static FILE *open_in(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.ptx", folder, name);
  FILE *f = fopen(path, "w");
  if (!f) perror(path), exit(1);
  return f;
}

static void write_code(const char *folder, const char *name) {
  const char *why = NULL;
  gr_text ptx = {0};
  if (!gr_jit_ptx(&code, &ptx, &why)) fprintf(stderr, "%s: %s\n", name, why), exit(1);
  FILE *f = open_in(folder, name);
  fwrite(ptx.at, 1, ptx.size, f);
  fclose(f);
  gr_text_drop(&ptx);
}

static void start_code(int reducer, gr_dtype dtype, int number) {
  memset(&code, 0, sizeof code);
  code.dtype = (int16_t)dtype;
  code.reducer = (int16_t)reducer;
  code.number = (uint8_t)number;
  code.early = 1;
  code.rings = (uint8_t)number;
  code.b = code.tally = -1;
}

static void write_some(const char *folder) {
  static const char empty[] = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry formula() {\nret;\n}\n";
  mkdir(folder, 0777);
  FILE *f = open_in(folder, "empty");
  fputs(empty, f);
  fclose(f);
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    start_code(all[k].reducer, GR_F32, all[k].number);
    code.variant = (uint8_t)all[k].variant;
    code.present = (uint8_t)all[k].present;
    code.tally = (int16_t)(all[k].tallied ? 0 : -1);
    code.a = (int16_t)all[k].formula();
    write_code(folder, all[k].name);
  }
}

/* What elements are, and what is counted, are inputs. */
static void write_reducer(const char *folder, const char *name, int number, int reducer, int dtype, int tallied,
                          gr_cuda_present present, int hopper) {
#define GR_X(id, inputs, f, i) inputs,
  static const int inputs[] = {GR_REDUCERS(GR_X)};
#undef GR_X
  char file[64];
  start_code(reducer, (gr_dtype)dtype, number);
  code.present = (uint8_t)present;
  if (present) code.early = (uint8_t)hopper;
  for (int k = 0; k < inputs[reducer]; k++) code.nodes[input(k)].dtype = (uint8_t)dtype;
  code.b = (int16_t)(inputs[reducer] == 2 ? 1 : -1);
  if (tallied) code.nodes[code.tally = (int16_t)input(inputs[reducer])].dtype = GR_U8;
  snprintf(file, sizeof file, "%s", name);
  for (char *p = file; *p; p++)
    if (*p == ' ') *p = '_';
  write_code(folder, file);
  if (!code.rings) return;
  strcat(file, "_held"); /* where there are no rings */
  code.rings = 0;
  write_code(folder, file);
}

/* Skeletons by the first word of their names (shipped.h), after "hopper", which has two or three numbers behind it. */
static const struct kind {
  const char *word;
  int numbers, tallied;
  gr_cuda_present present;
} kinds[] = {
    {"reduce ", 3, 0, GR_PRESENT_NONE},
    {"tallied ", 3, 1, GR_PRESENT_NONE},
    {"present ", 2, 0, GR_PRESENT_leaves},
    {"counted ", 2, 1, GR_PRESENT_leaves},
    {"rows_staged ", 2, 0, GR_PRESENT_rows_staged},
    {"counted_staged ", 2, 1, GR_PRESENT_rows_staged},
    {"rows_by_element ", 2, 0, GR_PRESENT_rows_by_element},
    {"cols_unordered ", 2, 0, GR_PRESENT_cols_unordered},
    {"cols_sum ", 2, 0, GR_PRESENT_cols_sum},
    {"counted_rows ", 2, 1, GR_PRESENT_rows_by_element},
    {"counted_columns ", 2, 1, GR_PRESENT_cols_sum},
};

static void write_every(const char *folder) {
  int count[sizeof kinds / sizeof *kinds] = {0};
  write_some(folder);
  for (const gr_shipped *s = gr_shipped_texts; s->name; s++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      const size_t length = strlen(kinds[k].word);
      const int numbers = kinds[k].numbers;
      int number = 0, reducer, dtype, read = 0;
      const int hopper = strncmp(s->name, "hopper ", 7) == 0;
      const char *rest = s->name + (hopper ? 7 : 0);
      if (strncmp(rest, kinds[k].word, length) != 0) continue;
      rest += length;
      const int found = numbers == 3 ? sscanf(rest, "%d %d %d%n", &number, &reducer, &dtype, &read)
                                     : sscanf(rest, "%d %d%n", &reducer, &dtype, &read);
      if (found != numbers || rest[read]) fprintf(stderr, "%s: %d numbers expected\n", s->name, numbers), exit(1);
      write_reducer(folder, s->name, number, reducer, dtype, kinds[k].tallied, kinds[k].present, hopper);
      count[k]++;
    }
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (!count[k]) fprintf(stderr, "no skeleton is called '%s...'\n", kinds[k].word), exit(1);
}

static double ms_of(const char *path) {
  const char *ptxas = getenv("PTXAS"), *arch = getenv("ARCH");
  struct rusage r;
  int status;
  const pid_t child = fork();
  if (child == 0) {
    execlp(ptxas ? ptxas : "ptxas", "ptxas", "-arch", arch ? arch : "sm_90", path, "-o", "/dev/null", (char *)NULL);
    perror("ptxas");
    _exit(127);
  }
  if (child < 0 || wait4(child, &status, 0, &r) != child || status)
    fprintf(stderr, "%s: ptxas failed\n", path), exit(1);
  return 1e3 * (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
         1e-3 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static int rising(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static int by_file(const void *a, const void *b) {
  const char *const *x = a, *const *y = b;
  const int order = strcmp(strrchr(*x, '/'), strrchr(*y, '/'));
  return order ? order : strcmp(*x, *y);
}

static void time_all(int rounds, char **folders, int count) {
  char *paths[256];
  int files = 0;
  for (int k = 0; k < count; k++) {
    DIR *d = opendir(folders[k]);
    if (!d) perror(folders[k]), exit(1);
    for (struct dirent *e; (e = readdir(d)) && files < 256;) {
      if (!strstr(e->d_name, ".ptx")) continue;
      if (asprintf(&paths[files], "%s/%s", folders[k], e->d_name) < 0) exit(1);
      files++;
    }
    closedir(d);
  }
  qsort(paths, (size_t)files, sizeof *paths, by_file);
  double *ms = calloc((size_t)files * (size_t)rounds, sizeof *ms);
  for (int r = 0; ms && r < rounds; r++)
    for (int k = 0; k < files; k++) ms[k * rounds + r] = ms_of(paths[k]);
  for (int k = 0; ms && k < files; k++) {
    qsort(ms + k * rounds, (size_t)rounds, sizeof *ms, rising);
    printf("%-48s least %6.1f  median %6.1f\n", paths[k], ms[k * rounds], ms[k * rounds + rounds / 2]);
    free(paths[k]);
  }
  free(ms);
}

int main(int n, char **v) {
  if (n == 3 && !strcmp(v[1], "write")) return write_some(v[2]), 0;
  if (n == 3 && !strcmp(v[1], "every")) return write_every(v[2]), 0;
  if (n > 3 && !strcmp(v[1], "time") && atoi(v[2]) > 0) return time_all(atoi(v[2]), v + 3, n - 3), 0;
  fprintf(stderr, "compile write DIR, compile every DIR, or compile time ROUNDS DIR [OTHER...]\n");
  return 2;
}
