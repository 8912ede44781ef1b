#ifndef SHAPEEDIT_FUSESHIM_H
#define SHAPEEDIT_FUSESHIM_H

/* Defined here, not by a flag, so that Swift's importer sees the same API as the C side. */
#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 314
#endif
#include <fuse_lowlevel.h>
#include <stdint.h>

/* What libfuse 3.14 does not know yet: kernel passthrough, and mappings of files that are read past the
   page cache. FUSE-specific constants below are the kernel's (linux/fuse.h of 7.40 and later). */

struct shim_connection {
    /* Wanted before the session is mounted. */
    int want_passthrough;
    /* That files opened with FOPEN_DIRECT_IO can be mapped and shared. */
    int want_direct_mapping;
    /* Root alone may come, and nobody looks at permissions. Who comes as root and acts for another user
       (setfsuid(2): servers of network file systems) gets EACCES for what goes by them. */
    int root_only;
    /* Known after INIT. */
    int has_passthrough;
    int has_direct_mapping;
    /* The descriptor of /dev/fuse. */
    int device;
    /* Internal. */
    uint64_t init_unique;
    uint32_t offered, offered2;
};

/* Takes over the session's reads and writes so that INIT can be completed. Call after
   fuse_session_mount. The structure must outlive the session. 0 or a negative errno. */
int shim_attach(struct fuse_session *session, struct shim_connection *connection);

/* Whether the kernel has the mount still, be it out of sight. */
int shim_is_mounted(struct shim_connection *connection);

/* Ends the connection without unmounting anything: all that is open in the mount fails, and answers go
   nowhere from now on. The descriptor's number stays taken. 0 or a negative errno. */
int shim_abandon(struct shim_connection *connection);

/* Lends a file to the kernel: its number there, or -1 with errno. */
int32_t shim_backing_open(struct shim_connection *connection, int descriptor);
int shim_backing_close(struct shim_connection *connection, int32_t backing);

/* Answers OPEN and CREATE with a passthrough handle. */
int shim_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing);
int shim_reply_create(fuse_req_t request, const struct fuse_entry_param *entry, uint64_t handle,
                      uint32_t flags, int32_t backing);

/* FOPEN_ flags of the kernel. */
enum {
    SHIM_FOPEN_DIRECT_IO = 1,
    SHIM_FOPEN_KEEP_CACHE = 2,
    SHIM_FOPEN_STREAM = 16,
    SHIM_FOPEN_PASSTHROUGH = 128
};

int shim_loop(struct fuse_session *session, unsigned int threads);

/* Makes `buffer` show some memory. */
void shim_memory_buffer(struct fuse_bufvec *buffer, void *memory, size_t size);

/* Replies with size bytes of descriptor at offset, spliced where possible. */
int shim_reply_file(fuse_req_t request, int descriptor, int64_t offset, size_t size);
/* Writes the request's buffer to descriptor at offset: the bytes written or a negative errno. */
ssize_t shim_write_buffer(struct fuse_bufvec *source, int descriptor, int64_t offset);
/* Copies the request's buffer to memory: the bytes copied or a negative errno. */
ssize_t shim_read_buffer(struct fuse_bufvec *source, void *memory, size_t size);

#endif
