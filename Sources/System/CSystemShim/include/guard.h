#ifndef SHAPEEDIT_GUARD_H
#define SHAPEEDIT_GUARD_H

/* Starts a process that frees a mount when its daemon, the caller, was killed and cannot end: a thread
   of it may be waiting in the kernel for a folder that another process holds while it waits for the
   daemon's answer. The process ends with the daemon. To be called by the first thread of a process,
   early: the new process keeps the memory that the caller has then. What the guard is told by; -1 and
   errno if it cannot start. */
int shim_guard_mount(void);
/* Tells a guard the connection of what is mounted at a point, whose number is that of its device. */
void shim_tell_guard(int guard, const char *point);

#endif
