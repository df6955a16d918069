/* A disk that gets full: after FULL_AFTER writes below FULL_FOLDER every one fails with ENOSPC; each is noted in FULL_LOG.

     cc -shared -fPIC -o full_disk.so full_disk.c -ldl        and then LD_PRELOAD=./full_disk.so

   Making a file or a folder is a write, too. Only the process that was started with it counts, not its children. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static long writes, allowed;
static const char *folder, *notes;

__attribute__((constructor)) static void begin(void) {
  folder = getenv("FULL_FOLDER");
  notes = getenv("FULL_LOG");
  allowed = folder ? atol(getenv("FULL_AFTER")) : 0;
  unsetenv("LD_PRELOAD"); /* workers write nothing there */
}

static int full(const char *path) {
  if (!folder || strncmp(path, folder, strlen(folder)) != 0) return 0;
  FILE *log = fopen(notes, "a");
  fprintf(log, "%s\n", path);
  fclose(log);
  if (writes++ < allowed) return 0;
  errno = ENOSPC;
  return 1;
}

static int full_file(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return full(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int d, const void *data, size_t size) { return full_file(d) ? -1 : REAL(write)(d, data, size); }
ssize_t writev(int d, const struct iovec *v, int n) { return full_file(d) ? -1 : REAL(writev)(d, v, n); }
int mkdir(const char *path, mode_t mode) { return full(path) ? -1 : REAL(mkdir)(path, mode); }

#define OPEN(name)                                                                                \
  int name(const char *path, int flags, ...) {                                                    \
    va_list list;                                                                                 \
    va_start(list, flags);                                                                        \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                       \
    va_end(list);                                                                                 \
    return flags & (O_CREAT | O_TMPFILE) & ~O_DIRECTORY && full(path) ? -1 : REAL(name)(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
