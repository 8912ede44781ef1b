#ifndef SHAPEEDIT_SYSTEMSHIM_H
#define SHAPEEDIT_SYSTEMSHIM_H

#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

#include "askchild.h"
#include "guard.h"

/* System calls that Swift cannot import: variadic ones and those behind _GNU_SOURCE.
   Each returns what the system call returns and leaves errno alone. */

/* The name ps -L shows; at most 15 bytes. */
int shim_set_thread_name(const char *name);
/* As the kernel numbers it. */
int shim_thread_id(void);
/* Has the calling thread give way to others by that many steps of nice(2). */
int shim_lower_priority(int steps);
/* Shares the blocks of source with target where the file system can (FICLONE). */
int shim_clone_file(int target, int source);
ssize_t shim_copy_file_range(int source, int64_t *source_offset, int target, int64_t *target_offset,
                             size_t count);
/* Writes behind the end of the file, whoever else does. */
ssize_t shim_append(int descriptor, const void *bytes, size_t count);
int shim_fallocate(int descriptor, int mode, int64_t offset, int64_t length);
/* Begins to write out all of a file, and does not wait for it. */
int shim_start_writing(int descriptor);
/* Writes out everything of the file system that holds descriptor. */
int shim_sync_file_system(int descriptor);
/* 1: what is at path is on a mount of FUSE. */
int shim_is_fuse(const char *path);
/* 1: the numbers of the files where this one is last; 0: they do not, or nobody knows. */
int shim_keeps_numbers(int descriptor);
/* 0 or EPERM: thread is alive and the leader of its process; ESRCH: it is not. */
int shim_probe_leader(int thread);
/* 1 if this is the number of a system call that reads from a file, else 0. */
int shim_is_read(long call);
/* Sets (1) or clears (0) the immutable flag of an open file. */
int shim_set_immutable(int descriptor, int immutable);
/* 1: the file system of path writes nothing over in its place (btrfs). */
int shim_is_copying(const char *path);
/* Has it write an open file over in its place all the same; only while that is empty. */
int shim_write_in_place(int descriptor);
/* lseek with SEEK_DATA (data = 1) or SEEK_HOLE (data = 0). */
int64_t shim_seek(int descriptor, int64_t offset, int data);
/* renameat2 with RENAME_NOREPLACE. */
int shim_rename_exclusively(const char *from, const char *to);
/* 1 if somebody else has the file of descriptor open for writing or mapped from such a descriptor,
   0 if not, -1 if it cannot be told. descriptor must be the caller's only one for the file if it
   writes; with one that writes, readers count too. */
int shim_is_written(int descriptor);
/* fgetxattr, flistxattr, fsetxattr and fremovexattr. */
ssize_t shim_get_attribute(int descriptor, const char *name, void *value, size_t size);
ssize_t shim_list_attributes(int descriptor, char *names, size_t size);
int shim_set_attribute(int descriptor, const char *name, const void *value, size_t size);
int shim_remove_attribute(int descriptor, const char *name);
ssize_t shim_get_path_attribute(const char *path, const char *name, void *value, size_t size);
ssize_t shim_list_path_attributes(const char *path, char *names, size_t size);
int shim_set_path_attribute(
    const char *path, const char *name, const void *value, size_t size);
int shim_remove_path_attribute(const char *path, const char *name);
/* When the file named so in a directory was made, in nanoseconds since 1970; 0 if its disk does not
   tell. Symlinks are not followed. An empty name means the open file itself. */
uint64_t shim_birth_time(int directory, const char *name);
/* A new file in memory without a name, closed on exec. */
int shim_memory_file(void);
/* Gives freed memory back to the system. */
void shim_trim_memory(void);
/* Bytes that malloc has given out, without blocks that have mappings of their own. */
size_t shim_used_memory(void);

/* Pools of memory grow by `step` bytes and shrink when `excess` bytes at their end are free. */
void shim_pad_memory(int step, int excess);
/* Threads that begin later share at most so many pools. */
void shim_limit_pools(int count);
/* Blocks up to `size` bytes, 32 MiB at most, come from the pools; larger ones from the system. */
void shim_pool_memory(int size);
/* A descriptor that is readable after it was written to, closed on exec, never blocking. */
int shim_signal_descriptor(void);
/* accept4, closed on exec, not blocking. */
int shim_accept(int listener);
/* SO_PEERCRED: who made a socket's other end; 0 or -1. */
int shim_peer(int descriptor, int *process, unsigned *user);
/* A descriptor that is readable when the process has ended which connected to a Unix socket, as
   shim_peer tells it; -1 where that cannot be known, SHIM_PEER_ENDED if it has ended and nothing is left
   of it. */
#define SHIM_PEER_ENDED (-2)
int shim_peer_process(int descriptor, int process);

/* Closes all descriptors from that number up in the process that will be started. */
int shim_spawn_close_from(posix_spawn_file_actions_t *actions, int first);
/* POSIX_SPAWN_SETSID, which not all headers show. */
int shim_spawn_session(void);

#endif
