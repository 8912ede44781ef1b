// The client side of Scripts/bench: each operation in a tight loop, so that the time measured is
// the file system's and not an interpreter's.
//
//   client tree ROOT COUNT          make COUNT empty files, 1000 a directory
//   client stat ROOT COUNT          lstat all of them in scattered order, three times
//   client create|read|rewrite|rename|unlink ROOT COUNT BYTES     small files
//   client write|read-all FILE MIB  in blocks of 1 MiB
//   client pread|mmap FILE COUNT    4 KiB at random places
//   client read-list LIST ROUNDS  whole files whose paths are the lines of LIST
//   client save FILE COUNT SOURCE write what SOURCE has over FILE; prints "p50 p99 most" of close()
//   client touch - MIB              use that much memory and give it back
//   client run PROGRAM ARGUMENT...  any program, its output thrown away
//
// Prints one line, "wall user system" in nanoseconds, of the timed part only; making directories
// and choosing places comes before it. Data carries its position and is checked on reading: a
// fast wrong answer is an error. Exit code 2 and "error NUMBER what" on stderr if a call fails.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { pageBytes = 4096, mebibyte = 1 << 20, filesPerDirectory = 1000, statRounds = 3 };

static struct timespec startTime;
static struct rusage startUsage;
static int usageOf = RUSAGE_SELF;

static void fail(const char *what) {
    fprintf(stderr, "error %d %s: %s\n", errno, what, strerror(errno));
    exit(2);
}

static void startClock(void) {
    getrusage(usageOf, &startUsage);
    clock_gettime(CLOCK_MONOTONIC, &startTime);
}

static int64_t between(struct timeval from, struct timeval to) {
    return (to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_usec - from.tv_usec) * 1000LL;
}

static void stopClock(void) {
    struct timespec now;
    struct rusage usage;
    clock_gettime(CLOCK_MONOTONIC, &now);
    getrusage(usageOf, &usage);
    int64_t wall = (now.tv_sec - startTime.tv_sec) * 1000000000LL + now.tv_nsec - startTime.tv_nsec;
    printf("%lld %lld %lld\n", (long long)wall,
           (long long)between(startUsage.ru_utime, usage.ru_utime),
           (long long)between(startUsage.ru_stime, usage.ru_stime));
}

// xorshift64: the same places in every run and on every system.
static uint64_t nextRandom(void) {
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// Every 4 KiB page begins with its number in the file and is not zero elsewhere.
static void fillPages(char *block, size_t bytes, uint64_t firstPage) {
    for (size_t offset = 0; offset < bytes; offset += pageBytes) {
        uint64_t mark = firstPage + offset / pageBytes + 1;
        memcpy(block + offset, &mark, sizeof mark);
    }
}

static void checkPage(const char *page, uint64_t number) {
    uint64_t mark;
    memcpy(&mark, page, sizeof mark);
    if (mark != number + 1) {
        fprintf(stderr, "error 0 wrong data in page %llu\n", (unsigned long long)number);
        exit(2);
    }
}

static void filePath(char *path, const char *root, const char *name, long number) {
    snprintf(path, pageBytes, "%s/%04ld/%s%06ld", root, number / filesPerDirectory, name, number);
}

static void makeDirectories(const char *root, long count) {
    char path[pageBytes];
    if (mkdir(root, 0755) != 0 && errno != EEXIST) fail(root);
    for (long number = 0; number < count; number += filesPerDirectory) {
        snprintf(path, sizeof path, "%s/%04ld", root, number / filesPerDirectory);
        if (mkdir(path, 0755) != 0 && errno != EEXIST) fail(path);
    }
}

static void makeTree(const char *root, long count) {
    char path[pageBytes];
    makeDirectories(root, count);
    startClock();
    for (long number = 0; number < count; number++) {
        filePath(path, root, "f", number);
        int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
        if (file < 0) fail(path);
        if (close(file) != 0) fail(path);
    }
    stopClock();
}

static void statTree(const char *root, long count) {
    char path[pageBytes];
    struct stat status;
    startClock();
    for (int round = 0; round < statRounds; round++) {
        for (long step = 0; step < count; step++) {
            // A prime stride visits every file once and no two neighbours in a row.
            filePath(path, root, "f", (step * 7919) % count);
            if (lstat(path, &status) != 0) fail(path);
        }
    }
    stopClock();
}

static void writeSmall(const char *root, long count, size_t bytes, int flags) {
    char path[pageBytes];
    char *content = malloc(bytes);
    memset(content, 'x', bytes);
    fillPages(content, bytes, 0);
    if (flags & O_EXCL) makeDirectories(root, count);
    startClock();
    for (long number = 0; number < count; number++) {
        filePath(path, root, "f", number);
        int file = open(path, O_WRONLY | flags, 0644);
        if (file < 0) fail(path);
        if (write(file, content, bytes) != (ssize_t)bytes) fail(path);
        if (close(file) != 0) fail(path);
    }
    stopClock();
}

static void readSmall(const char *root, long count, size_t bytes) {
    char path[pageBytes];
    char *content = malloc(bytes + 1);
    startClock();
    for (long number = 0; number < count; number++) {
        filePath(path, root, "f", number);
        int file = open(path, O_RDONLY);
        if (file < 0) fail(path);
        // One byte more than there is: a file that is too long shows as well.
        if (read(file, content, bytes + 1) != (ssize_t)bytes) fail(path);
        checkPage(content, 0);
        if (close(file) != 0) fail(path);
    }
    stopClock();
}

static void renameSmall(const char *root, long count) {
    char from[pageBytes], to[pageBytes];
    startClock();
    for (long number = 0; number < count; number++) {
        filePath(from, root, "f", number);
        filePath(to, root, "g", number);
        if (rename(from, to) != 0) fail(from);
    }
    stopClock();
}

static void unlinkSmall(const char *root, long count) {
    char path[pageBytes];
    startClock();
    for (long number = 0; number < count; number++) {
        filePath(path, root, "g", number);
        if (unlink(path) != 0) fail(path);
    }
    stopClock();
}

static void writeLarge(const char *path, long mebibytes) {
    char *block = malloc(mebibyte);
    struct stat status;
    memset(block, 'x', mebibyte);
    startClock();
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (file < 0) fail(path);
    for (long number = 0; number < mebibytes; number++) {
        fillPages(block, mebibyte, (uint64_t)number * (mebibyte / pageBytes));
        if (write(file, block, mebibyte) != mebibyte) fail(path);
    }
    if (close(file) != 0) fail(path);
    // Part of the cost: what a system does after close() before others can see the file.
    if (stat(path, &status) != 0) fail(path);
    stopClock();
    if (status.st_size != (off_t)mebibytes * mebibyte) {
        fprintf(stderr, "error 0 size after close is %lld\n", (long long)status.st_size);
        exit(2);
    }
}

static void readLarge(const char *path, long mebibytes) {
    char *block = malloc(mebibyte);
    startClock();
    int file = open(path, O_RDONLY);
    if (file < 0) fail(path);
    off_t offset = 0;
    ssize_t got;
    while ((got = read(file, block, mebibyte)) > 0) {
        if (offset % pageBytes == 0) checkPage(block, (uint64_t)offset / pageBytes);
        offset += got;
    }
    if (got < 0 || offset != (off_t)mebibytes * mebibyte) fail(path);
    close(file);
    stopClock();
}

static void readRandom(const char *path, long count, int mapped) {
    char page[pageBytes];
    int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) fail(path);
    uint64_t pages = (uint64_t)status.st_size / pageBytes;
    char *map = NULL;
    startClock();
    if (mapped) {
        map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
        if (map == MAP_FAILED) fail(path);
    }
    for (long step = 0; step < count; step++) {
        uint64_t number = nextRandom() % pages;
        if (!mapped && pread(file, page, pageBytes, (off_t)(number * pageBytes)) != pageBytes) {
            fail(path);
        }
        checkPage(mapped ? map + number * pageBytes : page, number);
    }
    stopClock();
}

static void readList(const char *list, long rounds) {
    static char content[mebibyte], paths[1 << 24];
    int file = open(list, O_RDONLY);
    ssize_t size = read(file, paths, sizeof paths - 1);
    if (file < 0 || size < 0) fail(list);
    startClock();
    for (long round = 0; round < rounds; round++) {
        for (char *path = paths, *end; (end = memchr(path, '\n', paths + size - path)); path = end + 1) {
            *end = 0;
            int file = open(path, O_RDONLY);
            if (file < 0) fail(path);
            ssize_t got;
            while ((got = read(file, content, sizeof content)) > 0) {}
            if (got < 0 || close(file) != 0) fail(path);
            *end = '\n';
        }
    }
    stopClock();
}

static int compareTimes(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

static void saveAgain(const char *path, long count, const char *source) {
    static char content[mebibyte];
    int file = open(source, O_RDONLY);
    ssize_t size = read(file, content, sizeof content);
    if (file < 0 || size < 0) fail(source);
    int64_t *times = calloc((size_t)count, sizeof *times);
    for (long number = 0; number < count; number++) {
        struct timespec before, after;
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (file < 0 || write(file, content, (size_t)size) != size) fail(path);
        clock_gettime(CLOCK_MONOTONIC, &before);
        if (close(file) != 0) fail(path);
        clock_gettime(CLOCK_MONOTONIC, &after);
        times[number] = (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
    }
    qsort(times, (size_t)count, sizeof *times, compareTimes);
    printf("%lld %lld %lld\n", (long long)times[count / 2], (long long)times[count * 99 / 100],
           (long long)times[count - 1]);
}

static void touchMemory(long mebibytes) {
    startClock();
    if (mmap(NULL, (size_t)mebibytes * mebibyte, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED) fail("mmap");
    stopClock();
}

static void runProgram(char **arguments) {
    usageOf = RUSAGE_CHILDREN;
    startClock();
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) fail(arguments[0]);
    stopClock();
    if (status != 0) {
        fprintf(stderr, "error 0 %s ended with status %d\n", arguments[0], status);
        exit(2);
    }
}

int main(int argumentCount, char **arguments) {
    if (argumentCount < 4) {
        fprintf(stderr, "usage: client OPERATION PATH COUNT [BYTES]\n");
        return 64;
    }
    const char *operation = arguments[1], *path = arguments[2];
    long count = atol(arguments[3]);
    size_t bytes = argumentCount > 4 ? (size_t)atol(arguments[4]) : pageBytes;
    if (strcmp(operation, "run") == 0) runProgram(arguments + 2);
    else if (strcmp(operation, "tree") == 0) makeTree(path, count);
    else if (strcmp(operation, "stat") == 0) statTree(path, count);
    else if (strcmp(operation, "create") == 0) writeSmall(path, count, bytes, O_CREAT | O_EXCL);
    else if (strcmp(operation, "read") == 0) readSmall(path, count, bytes);
    else if (strcmp(operation, "rewrite") == 0) writeSmall(path, count, bytes, O_TRUNC);
    else if (strcmp(operation, "rename") == 0) renameSmall(path, count);
    else if (strcmp(operation, "unlink") == 0) unlinkSmall(path, count);
    else if (strcmp(operation, "write") == 0) writeLarge(path, count);
    else if (strcmp(operation, "read-all") == 0) readLarge(path, count);
    else if (strcmp(operation, "pread") == 0) readRandom(path, count, 0);
    else if (strcmp(operation, "mmap") == 0) readRandom(path, count, 1);
    else if (strcmp(operation, "read-list") == 0) readList(path, count);
    else if (strcmp(operation, "save") == 0) saveAgain(path, count, arguments[4]);
    else if (strcmp(operation, "touch") == 0) touchMemory(count);
    else {
        fprintf(stderr, "unknown operation %s\n", operation);
        return 64;
    }
    return 0;
}
