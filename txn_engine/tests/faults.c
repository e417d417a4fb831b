/* Calls of the system that fail when a test wants them to. Preloaded into the program; told by environment variables:
 *
 * FAULT_PATH   pattern (fnmatch) of the paths that are meant, as they are given to the call or as the system names the open file
 * FAULT_CALL   name of the call that is meant; all calls below if it is absent
 * FAULT_AT     which of those fails, from 1; every one if it is absent
 * FAULT_ERRNO  what it fails with; the process is killed there if it is absent
 * FAULT_DONE   if set, the call is carried out before that: a write by half
 * FAULT_LOG    file that is made when a call fails; it gets the name of the call
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *of(int file) {
    static __thread char path[4096];
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    return path;
}

static int is_hit(const char *call, const char *path) {
    static int count;
    const char *meant = getenv("FAULT_PATH"), *only = getenv("FAULT_CALL"), *at = getenv("FAULT_AT");
    if (!meant || fnmatch(meant, path, 0) || (only && strcmp(only, call))) return 0;
    if (__sync_add_and_fetch(&count, 1) != (at ? atoi(at) : count)) return 0;
    const char *log = getenv("FAULT_LOG");
    FILE *out = log ? fopen(log, "a") : NULL;
    if (out) {
        fprintf(out, "%s %s\n", call, path);
        fclose(out);
    }
    return 1;
}

static int fault(void) {
    const char *number = getenv("FAULT_ERRNO");
    if (!number) kill(getpid(), SIGKILL);
    errno = atoi(number);
    return -1;
}

#define IS_DONE (getenv("FAULT_DONE") != NULL)

#define FAULTY(type, name, parameters, arguments, done, path)                                                                  \
    type name parameters {                                                                                                     \
        type(*real) parameters = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                                  \
        if (is_hit(#name, path)) {                                                                                             \
            if (IS_DONE) real done;                                                                                            \
            return fault();                                                                                                    \
        }                                                                                                                      \
        return real arguments;                                                                                                 \
    }

#define SAME(type, name, parameters, arguments, path) FAULTY(type, name, parameters, arguments, arguments, path)

FAULTY(ssize_t, write, (int file, const void *bytes, size_t length), (file, bytes, length), (file, bytes, length / 2), of(file))
SAME(ssize_t, read, (int file, void *bytes, size_t length), (file, bytes, length), of(file))
SAME(off64_t, lseek64, (int file, off64_t offset, int from), (file, offset, from), of(file))
SAME(int, fsync, (int file), (file), of(file))
SAME(int, fdatasync, (int file), (file), of(file))
SAME(int, ftruncate64, (int file, off64_t length), (file, length), of(file))
SAME(int, fchmod, (int file, mode_t mode), (file, mode), of(file))
SAME(int, flock, (int file, int how), (file, how), of(file))
SAME(int, close, (int file), (file), of(file))
SAME(int, rename, (const char *from, const char *to), (from, to), to)
SAME(int, link, (const char *from, const char *to), (from, to), to)
SAME(int, unlink, (const char *path), (path), path)
SAME(int, mkdir, (const char *path, mode_t mode), (path, mode), path)
SAME(int, statx, (int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict out),
     (folder, path, flags, mask, out), path && *path ? path : of(folder))

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    if (is_hit("open64", path)) {
        if (IS_DONE) real(path, flags, mode);
        return fault();
    }
    return real(path, flags, mode);
}
