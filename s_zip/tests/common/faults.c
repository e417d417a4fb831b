// Faults that a test asks for by environment variables:
//   REFUSED="fchmod:1 renameat2:22"   the kernel answers these calls with this errno, always and however they are made
//   FAILING="read:5:name:900"   the library's call fails with this errno for paths that end in the name,
//                                     reading from this position of the file on
//   TWICE=1                           folders give every name twice
//   POWERLESS=1                       root is held to permissions like anybody else
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void refuse(long number, int error) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("faults: seccomp");
        _exit(99);
    }
}

__attribute__((constructor)) static void start(void) {
    if (getenv("POWERLESS")) {
        struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
        struct __user_cap_data_struct none[2] = {{0}};
        if (syscall(SYS_capset, &header, none)) {
            perror("faults: capset");
            _exit(99);
        }
    }
    static const struct { const char *name; long number; } calls[] = {
        {"close", SYS_close}, {"fchmod", SYS_fchmod}, {"utimensat", SYS_utimensat}, {"renameat2", SYS_renameat2}};
    const char *asked = getenv("REFUSED");
    char name[32];
    int error, length;
    while (asked && sscanf(asked, " %31[^:]:%d%n", name, &error, &length) == 2) {
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            if (!strcmp(calls[i].name, name)) refuse(calls[i].number, error);
        }
        asked += length;
    }
}

// The errno that a call with this path at this position is to fail with, or 0.
static int fault(const char *call, const char *path, long position) {
    const char *asked = getenv("FAILING");
    char name[32], end[256];
    int error;
    long from = 0;
    if (!asked || sscanf(asked, "%31[^:]:%d:%255[^:]:%ld", name, &error, end, &from) < 3 || strcmp(name, call)) return 0;
    size_t has = strlen(path), wants = strlen(end);
    return has >= wants && !strcmp(path + has - wants, end) && position >= from ? error : 0;
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define FAIL(call, path, position, result) \
    do { \
        int error = fault(call, path, position); \
        if (error) { errno = error; return result; } \
    } while (0)

DIR *opendir(const char *path) {
    NEXT(opendir);
    FAIL("opendir", path, 0, NULL);
    return next(path);
}

int statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict found) {
    NEXT(statx);
    FAIL("statx", path, 0, -1);
    return next(fd, path, flags, mask, found);
}

ssize_t read(int fd, void *into, size_t bytes) {
    NEXT(read);
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    FAIL("read", path, lseek(fd, 0, SEEK_CUR), -1);
    return next(fd, into, bytes);
}

struct dirent64 *readdir64(DIR *folder) {
    NEXT(readdir64);
    static struct dirent64 *last;
    struct dirent64 *again = last;
    last = again || !getenv("TWICE") ? NULL : next(folder);
    return again ? again : last ? last : next(folder);
}
