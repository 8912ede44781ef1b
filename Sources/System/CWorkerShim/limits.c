#define _GNU_SOURCE
#include "workershim.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

static int limit(int kind, uint64_t value) {
    struct rlimit limit;
    if (getrlimit(kind, &limit) != 0) return -1;
    /* A limit that is lower already stays. */
    if (limit.rlim_max > value) limit.rlim_max = value;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(kind, &limit);
}

int shim_limit_address_space(uint64_t bytes) { return limit(RLIMIT_AS, bytes); }
int shim_limit_file_size(uint64_t bytes) { return limit(RLIMIT_FSIZE, bytes); }
int shim_limit_descriptors(uint64_t count) { return limit(RLIMIT_NOFILE, count); }

int shim_limit_core(void) {
    if (limit(RLIMIT_CORE, 0) != 0) return -1;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int shim_end_with_starter(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL); }

int shim_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int shim_processor_limit(unsigned seconds) {
    struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    return setitimer(ITIMER_PROF, &timer, NULL);
}
