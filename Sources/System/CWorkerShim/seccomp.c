#define _GNU_SOURCE
#include "workershim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#define OLD_MACHINE AUDIT_ARCH_I386
#define OLD_KEYS 286 /* add_key; request_key and keyctl follow. */
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#define OLD_MACHINE AUDIT_ARCH_ARM
#define OLD_KEYS 309
#endif

#ifdef MACHINE

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define REFUSE_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), REFUSE
#define ALLOW_CALL(name)                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ALLOW)

int shim_seccomp(void) {
    const unsigned own = (unsigned)getpid();
    struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        /* Memory. */
        ALLOW_CALL(mmap), ALLOW_CALL(munmap), ALLOW_CALL(mprotect), ALLOW_CALL(mremap),
        ALLOW_CALL(madvise), ALLOW_CALL(brk),
        /* Open descriptors. */
        ALLOW_CALL(read), ALLOW_CALL(pread64), ALLOW_CALL(readv), ALLOW_CALL(write),
        ALLOW_CALL(writev), ALLOW_CALL(sendmsg), ALLOW_CALL(recvmsg), ALLOW_CALL(lseek),
        ALLOW_CALL(fstat), ALLOW_CALL(close), ALLOW_CALL(fstatfs), ALLOW_CALL(getdents64),
        ALLOW_CALL(fadvise64), ALLOW_CALL(ppoll),
        /* Not what has the kernel send a signal to any process of the user when a descriptor can be
           read; nor a lease of a document, for which who opens that to write waits 45 s. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 7),
        LOAD(args[1]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETLEASE, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN_EX, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETSIG, 1, 0),
        ANSWER(SECCOMP_RET_ALLOW),
        REFUSE,
        /* Names of files; Landlock says which ones. */
        ALLOW_CALL(newfstatat), ALLOW_CALL(statx), ALLOW_CALL(faccessat), ALLOW_CALL(readlinkat),
        ALLOW_CALL(statfs), ALLOW_CALL(getcwd),
#if defined(__x86_64__)
        ALLOW_CALL(stat), ALLOW_CALL(lstat), ALLOW_CALL(access), ALLOW_CALL(readlink),
        ALLOW_CALL(poll),
#endif
        /* This process itself. */
        ALLOW_CALL(futex), ALLOW_CALL(rt_sigaction), ALLOW_CALL(rt_sigprocmask),
        ALLOW_CALL(rt_sigreturn), ALLOW_CALL(sigaltstack), ALLOW_CALL(getpid), ALLOW_CALL(gettid),
        ALLOW_CALL(getuid), ALLOW_CALL(geteuid), ALLOW_CALL(getgid), ALLOW_CALL(getegid),
        ALLOW_CALL(getrandom), ALLOW_CALL(clock_gettime), ALLOW_CALL(gettimeofday),
        ALLOW_CALL(sched_yield), ALLOW_CALL(sched_getaffinity), ALLOW_CALL(uname),
        ALLOW_CALL(sysinfo), ALLOW_CALL(setitimer), ALLOW_CALL(restart_syscall),
        ALLOW_CALL(set_robust_list), ALLOW_CALL(rseq), ALLOW_CALL(exit), ALLOW_CALL(exit_group),
        /* Signals to itself only, which is how abort works. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        REFUSE,
        /* Opening, without what creates or changes. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
                 O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), 1, 0),
        ANSWER(SECCOMP_RET_ALLOW),
        REFUSE,
        /* Threads, which the text library has, but no processes. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        REFUSE,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_NAME, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        REFUSE,
        /* Its flags cannot be seen; the C library then makes threads by clone. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
        REFUSE,
    };
    const size_t count = sizeof filter / sizeof *filter;
    struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

size_t shim_sandbox_filter(void *bytes, size_t count) {
    const struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 0, 9),
        LOAD(nr),
        /* Without the bit of x32. */
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xBFFFFFFF),
        REFUSE_CALL(SYS_add_key), REFUSE_CALL(SYS_request_key), REFUSE_CALL(SYS_keyctl),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 11, 10),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OLD_MACHINE, 0, 9),
        LOAD(nr),
        REFUSE_CALL(OLD_KEYS), REFUSE_CALL(OLD_KEYS + 1), REFUSE_CALL(OLD_KEYS + 2),
        /* Programs of 32 bits have two such calls. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 55, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 221, 1, 0),
        ANSWER(SECCOMP_RET_ALLOW),
        LOAD(args[1]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETLEASE, 1, 0),
        ANSWER(SECCOMP_RET_ALLOW),
        REFUSE,
    };
    if (count < sizeof filter) return 0;
    memcpy(bytes, filter, sizeof filter);
    return sizeof filter;
}

#else

int shim_seccomp(void) {
    errno = ENOSYS;
    return -1;
}

size_t shim_sandbox_filter(void *bytes, size_t count) { return 0; }

#endif
