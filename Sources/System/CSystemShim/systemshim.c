#define _GNU_SOURCE
#include "systemshim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

int shim_memory_file(void) { return memfd_create("shapeedit", MFD_CLOEXEC); }

int shim_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int shim_thread_id(void) { return gettid(); }

int shim_lower_priority(int steps) {
    /* On Linux "process 0" is the calling thread. */
    return setpriority(PRIO_PROCESS, 0, steps);
}

int shim_clone_file(int target, int source) { return ioctl(target, FICLONE, source); }

ssize_t shim_copy_file_range(int source, int64_t *source_offset, int target, int64_t *target_offset,
                             size_t count) {
    return copy_file_range(source, source_offset, target, target_offset, count, 0);
}

ssize_t shim_append(int descriptor, const void *bytes, size_t count) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    return pwritev2(descriptor, &part, 1, 0, RWF_APPEND);
}

int shim_fallocate(int descriptor, int mode, int64_t offset, int64_t length) {
    return fallocate(descriptor, mode, offset, length);
}

int shim_start_writing(int descriptor) {
    return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int shim_sync_file_system(int descriptor) { return syncfs(descriptor); }

int shim_is_fuse(const char *path) {
    struct statfs information;
    return statfs(path, &information) == 0 && information.f_type == FUSE_SUPER_MAGIC;
}

int shim_keeps_numbers(int descriptor) {
    enum { exfat = 0x2011bab0 };
    struct statfs information;
    if (fstatfs(descriptor, &information) != 0) return 0;
    return information.f_type != FUSE_SUPER_MAGIC && information.f_type != MSDOS_SUPER_MAGIC &&
           information.f_type != exfat;
}

int shim_probe_leader(int thread) { return (int)syscall(SYS_tgkill, thread, thread, 0); }

int shim_is_read(long call) {
    switch (call) {
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_copy_file_range:
    case SYS_execve:
    case SYS_execveat:
        return 1;
    default:
        return 0;
    }
}

int shim_set_immutable(int descriptor, int immutable) {
    int flags = 0;
    if (ioctl(descriptor, FS_IOC_GETFLAGS, &flags) < 0) return -1;
    flags = immutable ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    return ioctl(descriptor, FS_IOC_SETFLAGS, &flags);
}

int shim_is_copying(const char *path) {
    struct statfs information;
    return statfs(path, &information) == 0 && information.f_type == BTRFS_SUPER_MAGIC;
}

int shim_write_in_place(int descriptor) {
    int flags = 0;
    if (ioctl(descriptor, FS_IOC_GETFLAGS, &flags) < 0) return -1;
    flags |= FS_NOCOW_FL;
    return ioctl(descriptor, FS_IOC_SETFLAGS, &flags);
}

int64_t shim_seek(int descriptor, int64_t offset, int data) {
    return lseek(descriptor, offset, data ? SEEK_DATA : SEEK_HOLE);
}

int shim_rename_exclusively(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

void shim_trim_memory(void) { malloc_trim(0); }

size_t shim_used_memory(void) { return mallinfo2().uordblks; }

void shim_pad_memory(int step, int excess) {
    mallopt(M_TOP_PAD, step);
    mallopt(M_TRIM_THRESHOLD, excess);
}

void shim_limit_pools(int count) { mallopt(M_ARENA_MAX, count); }

void shim_pool_memory(int size) { mallopt(M_MMAP_THRESHOLD, size); }

int shim_is_written(int descriptor) {
    /* A lease is only given while nobody stands against it: the one way to ask the kernel for an
       inode's count of writers, which mappings belong to. */
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0)
        return -1;
    int kind = (flags & O_ACCMODE) == O_RDONLY ? F_RDLCK : F_WRLCK;
    if (fcntl(descriptor, F_SETLEASE, kind) != 0)
        return errno == EAGAIN ? 1 : -1;
    return fcntl(descriptor, F_SETLEASE, F_UNLCK) == 0 ? 0 : -1;
}

ssize_t shim_get_attribute(int descriptor, const char *name, void *value, size_t size) {
    return fgetxattr(descriptor, name, value, size);
}

ssize_t shim_list_attributes(int descriptor, char *names, size_t size) {
    return flistxattr(descriptor, names, size);
}

ssize_t shim_get_path_attribute(const char *path, const char *name, void *value, size_t size) {
    return getxattr(path, name, value, size);
}

ssize_t shim_list_path_attributes(const char *path, char *names, size_t size) {
    return listxattr(path, names, size);
}

int shim_set_path_attribute(
    const char *path, const char *name, const void *value, size_t size) {
    return setxattr(path, name, value, size, 0);
}

int shim_remove_path_attribute(const char *path, const char *name) {
    return removexattr(path, name);
}

int shim_set_attribute(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}

int shim_remove_attribute(int descriptor, const char *name) {
    return fremovexattr(descriptor, name);
}

int shim_signal_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int shim_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int shim_peer(int descriptor, int *process, unsigned *user) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
    *process = credentials.pid;
    *user = credentials.uid;
    return 0;
}

int shim_peer_process(int descriptor, int process) {
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
    int number = -1;
    socklen_t size = sizeof number;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &number, &size) == 0) return number;
    /* Before Linux 6.5, and before 6.16 for one of which nothing is left. */
    if (process <= 0) return -1;
    number = (int)syscall(SYS_pidfd_open, process, 0);
    return number < 0 && errno == ESRCH ? SHIM_PEER_ENDED : number;
}

uint64_t shim_birth_time(int directory, const char *name) {
    struct statx status;
    if (statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_BTIME, &status) != 0
        || !(status.stx_mask & STATX_BTIME))
        return 0;
    return (uint64_t)status.stx_btime.tv_sec * 1000000000u + status.stx_btime.tv_nsec;
}

int shim_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int shim_spawn_session(void) { return POSIX_SPAWN_SETSID; }
