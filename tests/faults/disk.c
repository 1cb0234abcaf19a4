/* A disk that can fail: loaded before the C library, it fails calls on regular files while a switch is on.
   The switch is the file that PATHCAST_FAULT names: "full" fails writes with ENOSPC, "sync" fails fsync with EIO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fails(int file, const char *fault) {
    struct stat about;
    const char *path = getenv("PATHCAST_FAULT");
    char found[8] = "";
    int kept = errno, length = 0;
    int control = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (control >= 0) {
        length = (int)read(control, found, sizeof found - 1);
        close(control);
    }
    errno = kept;
    return length > 0 && strcmp(found, fault) == 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

#define FAIL(fault, error) \
    if (fails(file, fault)) { errno = error; return -1; }

ssize_t write(int file, const void *from, size_t size) {
    FAIL("full", ENOSPC)
    return ((ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(file, from, size);
}

ssize_t pwrite(int file, const void *from, size_t size, off_t at) {
    FAIL("full", ENOSPC)
    return ((ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite"))(file, from, size, at);
}

ssize_t pwrite64(int file, const void *from, size_t size, off64_t at) {
    FAIL("full", ENOSPC)
    return ((ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64"))(file, from, size, at);
}

int fsync(int file) {
    FAIL("sync", EIO)
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
    FAIL("sync", EIO)
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
