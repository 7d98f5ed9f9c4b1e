/* Preloaded below SQLite: every sync takes longer by SLOW_FSYNC_MICROS, as on a disk that is not next door. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int (*sync_call)(int);

static void wait_a_little(void) {
  const char *micros = getenv("SLOW_FSYNC_MICROS");
  const long nanos = (micros == NULL ? 0 : atol(micros)) * 1000L;
  const struct timespec span = {nanos / 1000000000L, nanos % 1000000000L};
  nanosleep(&span, NULL);
}

int fsync(int descriptor) {
  static sync_call real;
  if (real == NULL) real = (sync_call)dlsym(RTLD_NEXT, "fsync");
  const int result = real(descriptor);
  wait_a_little();
  return result;
}

int fdatasync(int descriptor) {
  static sync_call real;
  if (real == NULL) real = (sync_call)dlsym(RTLD_NEXT, "fdatasync");
  const int result = real(descriptor);
  wait_a_little();
  return result;
}
