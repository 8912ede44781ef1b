#define _GNU_SOURCE
#include "fuseshim.h"
#include "turn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel's side of the protocol, as far as it is needed here. */
enum {
    OPCODE_LOOKUP = 1,
    OPCODE_SETATTR = 4,
    OPCODE_SYMLINK = 6,
    OPCODE_MKNOD = 8,
    OPCODE_MKDIR = 9,
    OPCODE_UNLINK = 10,
    OPCODE_RMDIR = 11,
    OPCODE_RENAME = 12,
    OPCODE_LINK = 13,
    OPCODE_OPEN = 14,
    OPCODE_READ = 15,
    OPCODE_FSYNC = 20,
    OPCODE_SETXATTR = 21,
    OPCODE_GETXATTR = 22,
    OPCODE_LISTXATTR = 23,
    OPCODE_REMOVEXATTR = 24,
    OPCODE_INIT = 26,
    OPCODE_OPENDIR = 27,
    OPCODE_FSYNCDIR = 30,
    OPCODE_ACCESS = 34,
    OPCODE_CREATE = 35,
    OPCODE_FALLOCATE = 43,
    OPCODE_RENAME2 = 45,
    OPCODE_COPY_FILE_RANGE = 47,
    OPCODE_TMPFILE = 51
};
#define INIT_HANDLE_KILLPRIV_V2 (1u << 28)
#define INIT_EXT (1u << 30)
/* Bits of flags2, the upper half of the 64 INIT flags. */
#define INIT2_DIRECT_IO_ALLOW_MMAP (1u << (36 - 32))
#define INIT2_PASSTHROUGH (1u << (37 - 32))
#define BACKING_OPEN _IOW(229, 1, struct backing_map)
#define BACKING_CLOSE _IOW(229, 2, uint32_t)

struct backing_map {
    int32_t fd;
    uint32_t flags;
    uint64_t padding;
};

struct in_header {
    uint32_t len, opcode;
    uint64_t unique, nodeid;
    uint32_t uid, gid, pid, padding;
};

struct init_in {
    uint32_t major, minor, max_readahead, flags, flags2;
};

struct out_header {
    uint32_t len;
    int32_t error;
    uint64_t unique;
};

struct init_out {
    uint32_t major, minor, max_readahead, flags;
    uint16_t max_background, congestion_threshold;
    uint32_t max_write, time_gran;
    uint16_t max_pages, map_alignment;
    uint32_t flags2, max_stack_depth;
    uint32_t unused[6];
};

struct read_in {
    uint64_t handle, offset;
    uint32_t size;
};

struct setattr_in {
    uint32_t valid;
};
/* By a descriptor. */
enum { SETATTR_HANDLE = 1 << 6 };

/* From this size on a request is about much data. */
enum { MUCH = 64 << 10 };

/* Whether another thread had better look for the next request at once. */
static int takes_long(const struct in_header *header) {
    switch (header->opcode) {
    case OPCODE_FSYNC: case OPCODE_FSYNCDIR: case OPCODE_FALLOCATE: case OPCODE_COPY_FILE_RANGE:
        return 1;
    case OPCODE_READ:
        return ((const struct read_in *)(header + 1))->size >= MUCH;
    default:
        return header->len >= MUCH;
    }
}

/* libfuse passes the session's userdata to these, which is not ours: one mount a process. */
static struct shim_connection *current;

/* Whether it depends on permissions if a request may be done: those that go by a name or a node, not those of
   what is open. */
static int needs_permission(const struct in_header *header) {
    switch (header->opcode) {
    case OPCODE_LOOKUP: case OPCODE_SYMLINK: case OPCODE_MKNOD: case OPCODE_MKDIR: case OPCODE_UNLINK:
    case OPCODE_RMDIR: case OPCODE_RENAME: case OPCODE_LINK: case OPCODE_OPEN: case OPCODE_SETXATTR:
    case OPCODE_GETXATTR: case OPCODE_LISTXATTR: case OPCODE_REMOVEXATTR: case OPCODE_OPENDIR:
    case OPCODE_ACCESS: case OPCODE_CREATE: case OPCODE_RENAME2: case OPCODE_TMPFILE:
        return 1;
    case OPCODE_SETATTR:
        return !(((const struct setattr_in *)(header + 1))->valid & SETATTR_HANDLE);
    default:
        return 0;
    }
}

/* Answers a request that nobody may make; whether it was one. */
static int refuse(int fd, const struct in_header *header) {
    if (!current->root_only || header->uid == 0 || !needs_permission(header)) return 0;
    struct out_header answer = {.len = sizeof answer, .error = -EACCES, .unique = header->unique};
    /* It fails if who asked is gone. */
    ssize_t written = write(fd, &answer, sizeof answer);
    (void)written;
    return 1;
}

static ssize_t read_request(int fd, void *buffer, size_t length, void *userdata) {
    (void)userdata;
    struct in_header *header = buffer;
    ssize_t result;
    do {
        result = turn_read(fd, buffer, length);
    } while (result >= (ssize_t)sizeof *header && refuse(fd, header));
    if (result < (ssize_t)(sizeof *header + 16)) return result;
    if (takes_long(header)) turn_call();
    if (header->opcode == OPCODE_TMPFILE) {
        /* As CREATE in all but the name, which is one that no file can have. */
        header->opcode = OPCODE_CREATE;
    } else if (header->opcode == OPCODE_INIT && current->init_unique == 0) {
        struct init_in *init = (struct init_in *)(header + 1);
        current->init_unique = header->unique;
        current->offered = init->flags;
        if (init->flags & INIT_EXT) current->offered2 = init->flags2;
    }
    return result;
}

static ssize_t write_reply(int fd, struct iovec *iov, int count, void *userdata) {
    (void)userdata;
    struct out_header *header = iov[0].iov_base;
    if (current->init_unique != 0 && header->unique == current->init_unique && count == 2 &&
        header->error == 0 && iov[1].iov_len == sizeof(struct init_out)) {
        struct init_out *init = iov[1].iov_base;
        current->init_unique = UINT64_MAX;
        if (current->offered & INIT_HANDLE_KILLPRIV_V2) {
            /* Without it every write would ask for security.capability first. */
            init->flags |= INIT_HANDLE_KILLPRIV_V2;
        }
        if (current->want_passthrough && (current->offered & INIT_EXT) &&
            (current->offered2 & INIT2_PASSTHROUGH)) {
            init->flags |= INIT_EXT;
            init->flags2 |= INIT2_PASSTHROUGH;
            init->max_stack_depth = 1;
            current->has_passthrough = 1;
        }
        if (current->want_direct_mapping && (current->offered & INIT_EXT) &&
            (current->offered2 & INIT2_DIRECT_IO_ALLOW_MMAP)) {
            init->flags |= INIT_EXT;
            init->flags2 |= INIT2_DIRECT_IO_ALLOW_MMAP;
            current->has_direct_mapping = 1;
        }
    }
    if (fd < 0) {
        /* The mount is gone, and with it whoever waited for this. libfuse would complain. */
        ssize_t size = 0;
        for (int i = 0; i < count; i++) size += iov[i].iov_len;
        return size;
    }
    return writev(fd, iov, count);
}

/* The kernel took no pages of the pipe, as when its memory is short. libfuse says so to its caller and answers no more:
 * who reads would wait for ever. What is in the pipe is sent as bytes instead; if there is no memory for them either,
 * its header says that it failed. */
static ssize_t send_copied(int in, int out, size_t length) {
    struct out_header header;
    /* The pipe does not wait. */
    if (read(in, &header, sizeof header) != sizeof header) return -1;
    size_t size = sizeof header;
    char *copy = length >= size ? malloc(length) : NULL;
    if (copy != NULL) {
        memcpy(copy, &header, size);
        while (size < length) {
            ssize_t count = read(in, copy + size, length - size);
            if (count <= 0) break;
            size += (size_t)count;
        }
    }
    ssize_t sent = copy != NULL && size == length ? write(out, copy, length) : -1;
    free(copy);
    /* Not one that has no use for it any more. */
    if (sent >= 0 || errno == ENOENT) return sent;
    header.len = sizeof header;
    header.error = -EIO;
    return write(out, &header, sizeof header) < 0 ? -1 : (ssize_t)length;
}

static ssize_t send_spliced(int in, off_t *in_offset, int out, off_t *out_offset, size_t length,
                            unsigned int flags, void *userdata) {
    (void)userdata;
    ssize_t sent = splice(in, in_offset, out, out_offset, length, flags);
    if (sent >= 0 || out != current->device) return sent;
    int error = errno;
    sent = send_copied(in, out, length);
    if (sent < 0) errno = error;
    return sent;
}

int shim_attach(struct fuse_session *session, struct shim_connection *connection) {
    static const struct fuse_custom_io io = {
        .writev = write_reply,
        .read = read_request,
        .splice_send = send_spliced,
    };
    current = connection;
    connection->device = fuse_session_fd(session);
    return fuse_session_custom_io(session, &io, connection->device);
}

int shim_is_mounted(struct shim_connection *connection) {
    struct pollfd device = {.fd = connection->device};
    return poll(&device, 1, 0) != 1 || !(device.revents & POLLERR);
}

int shim_abandon(struct shim_connection *connection) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return -errno;
    int result = dup3(nothing, connection->device, O_CLOEXEC) < 0 ? -errno : 0;
    close(nothing);
    return result;
}

int32_t shim_backing_open(struct shim_connection *connection, int descriptor) {
    struct backing_map map = {.fd = descriptor};
    return ioctl(connection->device, BACKING_OPEN, &map);
}

int shim_backing_close(struct shim_connection *connection, int32_t backing) {
    uint32_t id = (uint32_t)backing;
    return ioctl(connection->device, BACKING_CLOSE, &id);
}

struct open_out {
    uint64_t handle;
    uint32_t flags;
    int32_t backing;
};

int shim_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing) {
    struct open_out out = {handle, flags, backing};
    return fuse_reply_buf(request, (const char *)&out, sizeof out);
}

/* The kernel's fuse_entry_out. */
struct entry_out {
    uint64_t nodeid, generation, entry_valid, attr_valid;
    uint32_t entry_valid_nsec, attr_valid_nsec;
    uint64_t ino, size, blocks, atime, mtime, ctime;
    uint32_t atimensec, mtimensec, ctimensec, mode, nlink, uid, gid, rdev, blksize, flags;
};

int shim_reply_create(fuse_req_t request, const struct fuse_entry_param *entry, uint64_t handle,
                      uint32_t flags, int32_t backing) {
    struct {
        struct entry_out entry;
        struct open_out open;
    } out;
    const struct stat *attr = &entry->attr;
    memset(&out, 0, sizeof out);
    out.entry.nodeid = entry->ino;
    out.entry.generation = entry->generation;
    out.entry.entry_valid = (uint64_t)entry->entry_timeout;
    out.entry.attr_valid = (uint64_t)entry->attr_timeout;
    out.entry.ino = attr->st_ino;
    out.entry.size = (uint64_t)attr->st_size;
    out.entry.blocks = (uint64_t)attr->st_blocks;
    out.entry.atime = (uint64_t)attr->st_atim.tv_sec;
    out.entry.mtime = (uint64_t)attr->st_mtim.tv_sec;
    out.entry.ctime = (uint64_t)attr->st_ctim.tv_sec;
    out.entry.atimensec = (uint32_t)attr->st_atim.tv_nsec;
    out.entry.mtimensec = (uint32_t)attr->st_mtim.tv_nsec;
    out.entry.ctimensec = (uint32_t)attr->st_ctim.tv_nsec;
    out.entry.mode = attr->st_mode;
    out.entry.nlink = (uint32_t)attr->st_nlink;
    out.entry.uid = attr->st_uid;
    out.entry.gid = attr->st_gid;
    out.entry.rdev = (uint32_t)attr->st_rdev;
    out.entry.blksize = (uint32_t)attr->st_blksize;
    out.open.handle = handle;
    out.open.flags = flags;
    out.open.backing = backing;
    return fuse_reply_buf(request, (const char *)&out, sizeof out);
}

int shim_loop(struct fuse_session *session, unsigned int threads) {
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    if (config == NULL) return -ENOMEM;
    int result = turn_start(fuse_session_fd(session));
    if (result != 0) {
        fuse_loop_cfg_destroy(config);
        return result;
    }
    /* One descriptor for all threads, so that another daemon can take the mount over. */
    fuse_loop_cfg_set_clone_fd(config, 0);
    fuse_loop_cfg_set_max_threads(config, threads);
    result = fuse_session_loop_mt(session, config);
    turn_end();
    fuse_loop_cfg_destroy(config);
    return result;
}

/* Up to this size two plain calls cost less than filling and emptying a pipe. */
enum { COPIED_REPLY = 64 << 10 };

static int reply_copied(fuse_req_t request, int descriptor, int64_t offset, size_t size) {
    char buffer[COPIED_REPLY];
    size_t done = 0;
    while (done < size) {
        ssize_t count = pread(descriptor, buffer + done, size - done, offset + (int64_t)done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fuse_reply_err(request, errno);
        if (count == 0) break;
        done += (size_t)count;
    }
    return fuse_reply_buf(request, buffer, done);
}

int shim_reply_file(fuse_req_t request, int descriptor, int64_t offset, size_t size) {
    if (size <= COPIED_REPLY) return reply_copied(request, descriptor, offset, size);
    struct fuse_bufvec vector = FUSE_BUFVEC_INIT(size);
    vector.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
    vector.buf[0].fd = descriptor;
    vector.buf[0].pos = offset;
    /* Without SPLICE_MOVE, which would take the pages out of the backing file's cache. */
    return fuse_reply_data(request, &vector, 0);
}

void shim_memory_buffer(struct fuse_bufvec *buffer, void *memory, size_t size) {
    *buffer = FUSE_BUFVEC_INIT(size);
    buffer->buf[0].mem = memory;
}

ssize_t shim_write_buffer(struct fuse_bufvec *source, int descriptor, int64_t offset) {
    struct fuse_bufvec target = FUSE_BUFVEC_INIT(fuse_buf_size(source));
    target.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
    target.buf[0].fd = descriptor;
    target.buf[0].pos = offset;
    return fuse_buf_copy(&target, source, 0);
}

ssize_t shim_read_buffer(struct fuse_bufvec *source, void *memory, size_t size) {
    struct fuse_bufvec target = FUSE_BUFVEC_INIT(size);
    target.buf[0].mem = memory;
    return fuse_buf_copy(&target, source, 0);
}
