/* Runs a fuzz target without libFuzzer, in any build: on each file named on the
 * command line, on every prefix of a short one, and on a fixed number of fixed
 * mutations of it. The same files give the same inputs on every machine.
 *
 * When the target fails, the input that it was run on is left in
 * replay-failed.bin: a new file for tests/fuzz/regressions/<target>/. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUTATIONS 2000
#define PREFIXES 512
#define LONGEST (1 << 20)
#define ROOM 64 /* that one file's mutations may grow by */
#define SECONDS 60

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The sanitizers end a program without a signal; they call this before. */
extern void __sanitizer_set_death_callback(void (*fn)(void))
    __attribute__((weak));

struct input {
  uint8_t *data;
  size_t n;
};

static struct input current;
static const char *current_file;
static long runs;

static void keep_input(void) {
  static const char *const said[] = {"failed on an input made from ", NULL,
                                     ", kept in replay-failed.bin\n"};
  int fd = open("replay-failed.bin", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || write(fd, current.data, current.n) < 0) return;
  close(fd);
  for (int i = 0; i < 3; i++) {
    const char *s = said[i] != NULL ? said[i] : current_file;
    if (write(STDERR_FILENO, s, strlen(s)) < 0) return;
  }
}

static void on_signal(int number) {
  keep_input();
  signal(number, SIG_DFL);
  raise(number);
}

static void watch(void) {
  signal(SIGABRT, on_signal);
  signal(SIGALRM, on_signal); /* a hang */
  if (__sanitizer_set_death_callback != NULL)
    __sanitizer_set_death_callback(keep_input);
  else
    signal(SIGSEGV, on_signal);
}

/* A copy of its own size, so that a sanitizer sees a read past the end. */
static void run(const uint8_t *data, size_t n) {
  current.data = malloc(n > 0 ? n : 1);
  if (current.data == NULL) exit(2);
  if (n > 0) memcpy(current.data, data, n);
  current.n = n;
  alarm(SECONDS);
  LLVMFuzzerTestOneInput(current.data, n);
  free(current.data);
  runs++;
}

/* splitmix64 */
static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static void put_number(struct input *in, size_t at, uint64_t r) {
  static const uint64_t limits[] = {
      0,          1,          0x7f,      0x80,      0xff,      0x7fffffff,
      0x80000000, 0xffffffff, INT64_MAX, INT64_MIN, UINT64_MAX};
  uint64_t value = limits[r % (sizeof limits / sizeof *limits)];
  size_t width = (size_t)1 << (r >> 32) % 4;
  for (size_t i = 0; i < width && at + i < in->n; i++)
    in->data[at + i] = (uint8_t)(value >> 8 * i);
}

static void insert(struct input *in, size_t at, uint64_t r, size_t room) {
  size_t n = 1 + r % 8;
  if (n > room - in->n) return;
  memmove(in->data + at + n, in->data + at, in->n - at);
  for (size_t i = 0; i < n; i++) in->data[at + i] = (uint8_t)(r >> (8 + i));
  in->n += n;
}

static void cut(struct input *in, size_t at, uint64_t r) {
  size_t n = r % 2 ? in->n - at : 1 + r % 8;
  if (n > in->n - at) n = in->n - at;
  memmove(in->data + at, in->data + at + n, in->n - at - n);
  in->n -= n;
}

static void copy_within(struct input *in, size_t at, uint64_t r) {
  size_t from = r % in->n, n = 1 + (r >> 32) % 16;
  if (n > in->n - at) n = in->n - at;
  if (n > in->n - from) n = in->n - from;
  memmove(in->data + at, in->data + from, n);
}

static void mutate(struct input *in, uint64_t *state, size_t room) {
  uint64_t kind = next(state), r = next(state);
  size_t at = in->n > 0 ? next(state) % in->n : 0;
  if (in->n == 0) {
    insert(in, 0, r, room);
    return;
  }
  switch (kind % 6) {
    case 0:
      in->data[at] ^= (uint8_t)(1 << r % 8);
      break;
    case 1:
      in->data[at] = (uint8_t)r;
      break;
    case 2:
      put_number(in, at, r);
      break;
    case 3:
      insert(in, at, r, room);
      break;
    case 4:
      cut(in, at, r);
      break;
    default:
      copy_within(in, at, r);
  }
}

static void run_mutations(const uint8_t *data, size_t n) {
  uint64_t state = n;
  size_t room = n + ROOM;
  struct input in = {.data = malloc(room)};
  if (in.data == NULL) exit(2);
  for (int i = 0; i < MUTATIONS; i++) {
    memcpy(in.data, data, n);
    in.n = n;
    for (uint64_t k = 1 + next(&state) % 4; k > 0; k--)
      mutate(&in, &state, room);
    run(in.data, in.n);
  }
  free(in.data);
}

static void run_file(const char *path) {
  static uint8_t data[LONGEST];
  FILE *f = fopen(path, "rb");
  size_t n = f != NULL ? fread(data, 1, sizeof data, f) : 0;
  if (f == NULL || ferror(f)) {
    perror(path);
    exit(2);
  }
  fclose(f);
  current_file = path;
  run(data, n);
  for (size_t k = 0; k < n && k < PREFIXES; k++) run(data, k);
  run_mutations(data, n);
}

int main(int argc, char **argv) {
  watch();
  for (int i = 1; i < argc; i++) run_file(argv[i]);
  printf("%ld inputs from %d files\n", runs, argc - 1);
  return argc > 1 ? 0 : 2; /* a target without seeds tests nothing */
}
