#ifndef SHAPEEDIT_GUARD_H
#define SHAPEEDIT_GUARD_H

/* Starts a process that frees a mount when its daemon, the caller, was killed and cannot end: a thread
   of it may be waiting in the kernel for a folder that another process holds while it waits for the
   daemon's answer. The process ends with the daemon. To be called by the first thread of a process,
   early: the new process keeps the memory that the caller has then. A pipe, by which the guard is to be
   told the connection of the mount, an unsigned int; -1 and errno if it cannot start. */
int shim_guard_mount(void);

#endif
