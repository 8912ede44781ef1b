#ifndef SHAPEEDIT_WORKERSHIM_H
#define SHAPEEDIT_WORKERSHIM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What processes that draw other people's documents need of the kernel and Swift cannot import. */

/* Sends bytes with a descriptor, which stays the sender's; -1 with errno. descriptor -1: none.
   Never raises SIGPIPE. */
ssize_t shim_send(int socket, const void *bytes, size_t count, int descriptor);
/* Receives bytes and at most one descriptor, which becomes the caller's; *descriptor is -1 if none
   came. 0: the other side closed. */
ssize_t shim_receive(int socket, void *bytes, size_t count, int *descriptor);

/* Limits of this process, for good: -1 with errno. */
int shim_limit_address_space(uint64_t bytes);
int shim_limit_file_size(uint64_t bytes);
int shim_limit_core(void);
int shim_limit_descriptors(uint64_t count);
/* This process is killed with the thread that started it, also while it is stopped; for good. */
int shim_end_with_starter(void);
/* Neither this process nor what it starts can gain privileges. */
int shim_no_new_privileges(void);
/* Only files below the paths can be opened, and only to read; nothing can be changed. Paths that
   are not there are left out. -1 with errno where the kernel has no Landlock. */
int shim_landlock(const char *const *paths, size_t count);
/* Lets pass what computing, reading files and talking over open sockets take; everything else
   (programs, new sockets, signals to others, writing opens, ...) fails with EPERM.
   -1 with errno where the kernel has no seccomp filters or the machine is not known. */
int shim_seccomp(void);
/* Puts a filter for seccomp into the bytes that lets pass all but leases, for the end of which who opens the
   file waits 45 s, and what is about keys: no namespace has keyrings of its own. Its length; 0 where the
   machine is not known. */
size_t shim_sandbox_filter(void *bytes, size_t count);
/* Ends this process by SIGPROF once it has used that much processor time from now; 0: never. */
int shim_processor_limit(unsigned seconds);

/* A descriptor that becomes readable when the process ends; -1 with errno. */
int shim_pidfd(pid_t process);
/* A descriptor that becomes readable when 8 bytes are written to it; -1 with errno. */
int shim_event(void);

#endif
